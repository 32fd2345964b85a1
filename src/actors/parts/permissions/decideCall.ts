import type { PermissionMode } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { ToolEffects } from '../../tools/checkedUndo.ts'
import { weightOf, type Rule } from './rules.ts'
import { sightOf, type Sight, type Subject } from './subjects.ts'

/** A call, with the known facts about its tool. */
export interface JudgedCall {
  readonly name: string
  readonly input: unknown
  /** `agent`: the call is for a sub-agent, which inherits the rules that hold here. */
  readonly effects: ToolEffects | 'agent'
  /** Subjects of the call; missing if its tool has none, `unknown` if they could not be determined. */
  readonly subjects?: readonly Subject[] | 'unknown'
  /** Set for the tool that asks people to end plan mode. */
  readonly endsPlan?: true
}

/** Rules of one agent. */
export interface RuleLists {
  readonly deny: readonly Rule[]
  readonly ask: readonly Rule[]
  readonly allow: readonly Rule[]
  /** Rules that people added in answer to a question, so they take precedence over an `ask` that is no more specific. */
  readonly granted: readonly Rule[]
}

/** Decision about a call; `rule`: the rule or the mode that it follows from. */
export interface Ruling {
  readonly type: 'allow' | 'ask' | 'deny'
  readonly rule: string
  /** For `allow`: set if the tool's own `needsApproval` is not asked. */
  readonly instead?: true
  /** For `deny`: set if the mode decided, and no rule. */
  readonly mode?: PermissionMode
}

/**
 * Decides about a call. A matching `deny` always wins. An `ask` holds unless an `allow` is more specific, or a grant at
 * least as specific. Without a rule the mode decides. Pure, except for the rules' own functions.
 */
export function decideCall(rules: RuleLists, mode: PermissionMode, call: JudgedCall): Ruling {
  const sights = call.subjects === undefined || call.subjects === 'unknown' ? call.subjects : call.subjects.map(sightOf)
  const denied = strongest(rules.deny.filter((rule) => holds(rule, call, sights)))
  if (denied !== undefined) return { type: 'deny', rule: denied.text }
  if (mode === 'plan') {
    if (call.endsPlan === true) return { type: 'ask', rule: modeRule(mode) }
    if (call.effects !== 'none' && call.effects !== 'agent') return { type: 'deny', rule: modeRule(mode), mode }
  }
  const asked = mode === 'auto' ? undefined : strongest(rules.ask.filter((rule) => holds(rule, call, sights)))
  const granted = covering(rules.granted, call, sights)
  const instead = covering(
    rules.allow.filter((rule) => rule.instead),
    call,
    sights,
  )
  const allowed = covering(rules.allow, call, sights)
  const least = asked === undefined ? 0 : weightOf(asked)
  if (granted !== undefined && weightOf(granted) >= least) return { type: 'allow', rule: granted.text, instead: true }
  const wins = (rule: Rule | undefined): rule is Rule =>
    rule !== undefined && (asked === undefined || weightOf(rule) > least)
  if (wins(instead)) return { type: 'allow', rule: instead.text, instead: true }
  if (wins(allowed)) return { type: 'allow', rule: allowed.text, ...(mode === 'auto' ? { instead: true } : {}) }
  if (asked !== undefined) return mode === 'refuse' ? refused(asked.text) : { type: 'ask', rule: asked.text }
  const isFree = mode === 'auto' || (mode === 'edits' && isEdit(call))
  return { type: 'allow', rule: modeRule(mode), ...(isFree ? { instead: true } : {}) }
}

/** Returns true if a call can be undone as a whole. An undo of a command covers the files of its folder alone. */
const isEdit = ({ effects, subjects }: JudgedCall): boolean =>
  effects === 'reversible' && !(Array.isArray(subjects) && subjects.some((one: Subject) => 'command' in one))

/** Returns the decision that replaces a question when nobody is asked. */
export const refused = (rule: string): Ruling => ({ type: 'deny', rule, mode: 'refuse' })

/** Returns the rule text in the record of a call that no rule covered. */
export const modeRule = (mode: PermissionMode): string => `${modePrefix}${mode}`
const modePrefix = 'mode '

/** Returns true if a written rule decided, and not the mode. */
export const isWritten = ({ rule }: Ruling): boolean => !rule.startsWith(modePrefix)

const order = ['allow', 'ask', 'deny'] as const

/** Returns the strictest of the decisions of an agent and those above it. The tool's `needsApproval` is skipped only if all of them say so. Pure. */
export function strictest(rulings: readonly Ruling[]): Ruling {
  const worst = order.findLast((type) => rulings.some((ruling) => ruling.type === type))
  const those = rulings.filter(({ type }) => type === worst)
  return those.find(({ instead }) => instead === undefined) ?? those[0]!
}

type Sights = readonly Sight[] | 'unknown' | undefined

/** Returns true if a `deny` or `ask` rule covers this call. In doubt it does. */
function holds(rule: Rule, call: JudgedCall, sights: Sights): boolean {
  if (!isNamed(rule, call)) return false
  const { pattern, when } = rule
  if (pattern !== undefined && Array.isArray(sights) && !sights.some((sight: Sight) => sight.holds(pattern)))
    return false
  try {
    return when === undefined || Boolean(when(call.input))
  } catch {
    return true
  }
}

/** Returns the strongest of the rules that together allow a call; `undefined` if they do not. */
function covering(rules: readonly Rule[], call: JudgedCall, sights: Sights): Rule | undefined {
  const about = rules.filter((rule) => isNamed(rule, call) && isMet(rule, call))
  const aspects = Array.isArray(sights) ? sights.flatMap((sight: Sight) => sight.allows) : []
  const used = aspects.map((allows) => about.filter(({ pattern }) => pattern !== undefined && allows(pattern)))
  const isCovered = used.length > 0 && used.every((some) => some.length > 0)
  return strongest(isCovered ? used.flat() : about.filter(({ pattern }) => pattern === undefined))
}

function isMet({ when }: Rule, { input }: JudgedCall): boolean {
  try {
    return when === undefined || when(input) === true
  } catch {
    return false
  }
}

const isNamed = ({ name, isBeginning }: Rule, call: JudgedCall): boolean =>
  isBeginning ? call.name.startsWith(name) : call.name === name

/** Returns the most specific rule; among equals the longest, then the first. */
const strongest = (rules: readonly Rule[]): Rule | undefined =>
  rules.reduce<Rule | undefined>(
    (best, rule) => (best === undefined || isStronger(rule, best) ? rule : best),
    undefined,
  )

const isStronger = (a: Rule, b: Rule): boolean =>
  weightOf(a) > weightOf(b) || (weightOf(a) === weightOf(b) && a.text.length > b.text.length)
