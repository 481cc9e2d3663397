-- Workers of a project that changed together are told together: an event about one becomes an event about a list of one.
UPDATE events
SET body = '{"about":"change","change":{"kind":"workers","workers":['
    || substr(body, 54, length(body) - 55)
    || ']}}'
WHERE substr(body, 1, 53) = '{"about":"change","change":{"kind":"worker","worker":';
