"""The page: templates for the frame, native modules for what lives in it. All data comes from the API."""
