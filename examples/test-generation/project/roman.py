"""Roman numbers."""

SIGNS = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL")]
SIGNS += [(10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(number):
    """The number in Roman signs."""
    text = ""
    for value, sign in SIGNS:
        while number >= value:
            text, number = text + sign, number - value
    return text
