/** A rule that holds always, as a store keeps it. */
export interface StoredRule {
  readonly rule: string
  readonly decision: 'allow' | 'deny'
}

/** Rules of people that hold beyond one log, by the name of the definition that they were added for. */
export interface RuleStore {
  /** Contract: resolves with what was added and not removed, in order. */
  read(definition: string): Promise<readonly StoredRule[]>
  /** Contract: idempotent; resolves once it is kept. */
  add(definition: string, rule: StoredRule): Promise<void>
  /** Contract: idempotent; resolves once it is gone. */
  remove(definition: string, rule: StoredRule): Promise<void>
}
