"""The demo: the papers' influencer query, live, under three policies, compared at the end."""
