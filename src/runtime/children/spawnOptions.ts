export interface SpawnOptions {
  /** Default: the definition's name and a random part. */
  readonly id?: string
  /**
   * Nothing of the agent, or of the agents below it, is stored or listed: its log is in memory until it ends. Its events and spans are
   * marked so, spans carry no content, and a server shows it to nobody. It is never unloaded, cannot be resumed, opened, forked or
   * exported, and is gone when the process ends or `close` is called. Default `false`.
   */
  readonly incognito?: boolean
}
