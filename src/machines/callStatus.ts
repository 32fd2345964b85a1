/**
 * Status of a call. Four statuses wait for people: `held` for an approval; `asking` for the answer to a question of its running tool; `asked`
 * likewise, but the tool's process is gone, so that the answer starts it again; `requested` for a client's result. `checking`: `beforeTool`
 * decides about the call. `sleeping`: it waits for a time. `paused`: its sub-agent reached the run's limit and waits for `resume`.
 */
export type CallStatus =
  | 'ready'
  | 'checking'
  | 'held'
  | 'asking'
  | 'asked'
  | 'requested'
  | 'sleeping'
  | 'running'
  | 'paused'
  | 'settled'
