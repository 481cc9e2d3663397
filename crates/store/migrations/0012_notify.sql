-- Notifications away from the page: channels of people, what is pending for each, and its deliveries.

CREATE TABLE notify_channels (
    id TEXT PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id),
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    host TEXT NOT NULL,
    kinds TEXT NOT NULL,
    -- The address with its secrets, encrypted with a key that is not in the database.
    sealed TEXT NOT NULL,
    -- Why nothing is sent there.
    disabled TEXT,
    delivered_at BIGINT,
    failure TEXT,
    -- When to look at what is pending again.
    hold_until BIGINT,
    created_at BIGINT NOT NULL
);
CREATE INDEX notify_channels_by_user ON notify_channels (user_id);

CREATE TABLE notify_settings (
    user_id TEXT PRIMARY KEY REFERENCES users (id),
    settings TEXT,
    -- Until when the person counts as looking at the page.
    looking_until BIGINT
);

-- One event for one channel. It names what the event is about; the text is made when it is sent.
CREATE TABLE notices (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL REFERENCES notify_channels (id),
    event TEXT NOT NULL,
    kind TEXT NOT NULL,
    project TEXT NOT NULL,
    subject TEXT NOT NULL,
    state TEXT NOT NULL,
    delivery TEXT,
    at BIGINT NOT NULL,
    UNIQUE (channel, event)
);
CREATE INDEX notices_pending ON notices (channel) WHERE state = 'pending';
CREATE INDEX notices_by_delivery ON notices (delivery) WHERE delivery IS NOT NULL;
CREATE INDEX notices_by_event ON notices (event);

-- A message that is to be sent; its id is the same in every attempt.
CREATE TABLE notify_deliveries (
    id TEXT PRIMARY KEY,
    channel TEXT NOT NULL REFERENCES notify_channels (id),
    tried BIGINT NOT NULL,
    due_at BIGINT NOT NULL,
    -- Until when a hub is sending it.
    leased_until BIGINT
);
CREATE INDEX notify_deliveries_by_channel ON notify_deliveries (channel);

-- The last event that was looked at.
CREATE TABLE notify_cursor (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    seq BIGINT NOT NULL
);
