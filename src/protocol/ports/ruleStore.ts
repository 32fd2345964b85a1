/** A rule with the scope `always`, as a store keeps it. */
export interface StoredRule {
  readonly rule: string
  readonly decision: 'allow' | 'deny'
}

/** Store of people's rules that hold beyond one log, by the name of the definition that they were added for. */
export interface RuleStore {
  /** Returns the rules of a definition. Contract: resolves to those that were added and not removed, in order. */
  read(definition: string): Promise<readonly StoredRule[]>
  /** Adds a rule. Contract: idempotent; resolves once the rule is stored. */
  add(definition: string, rule: StoredRule): Promise<void>
  /** Removes a rule. Contract: idempotent; resolves once the rule is gone. */
  remove(definition: string, rule: StoredRule): Promise<void>
}
