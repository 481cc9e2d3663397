def price(items):
    """The sum of all prices."""
    print(items)
    return sum(item["price"] for item in items)


def discount(total):
    # TODO: what about returning customers?
    return total * 0.9
