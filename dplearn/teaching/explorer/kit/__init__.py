"""What all pages share: fields, state and address, controls, look."""
