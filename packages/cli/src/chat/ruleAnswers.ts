import { oneLine } from '../../../charts/src/plainText.ts'
import type { Grant } from '../../../../src/protocol/parts/permissions/permissionRecords.ts'
import type { MenuItem } from '../terminal/menu.ts'

/** A person's answer about a call that rules may decide. */
export type RuledAnswer =
  | { readonly decision: 'approve'; readonly grant?: Grant }
  | { readonly decision: 'deny'; readonly reason?: string; readonly grant?: Grant }

const scopes = { s: 'session', A: 'always' } as const

/**
 * Parses an answer; `undefined` if it is none. `s` and `A` allow the narrowest rule of `suggest`, `s2` and `A2` the next one, and
 * `s <rule>` the rule that the person writes. Pure.
 */
export function readRuled(said: string, suggest: readonly string[]): RuledAnswer | undefined {
  const answer = said.trim()
  if (/^(?:y(?:es)?|a)$/i.test(answer) && answer !== 'A') return { decision: 'approve' }
  const [, letter, number, written] = /^([sA])(?:(\d)|\s+(\S.*))?$/.exec(answer) ?? []
  if (letter !== undefined) {
    const rule = written ?? suggest[Number(number ?? 1) - 1]
    return rule === undefined ? undefined : { decision: 'approve', grant: { rule, scope: scopes[letter as 's' | 'A'] } }
  }
  const [, reason] = /^(?:no?|d(?:eny)?)(?:[\s,:;.!]+(.*))?$/is.exec(answer) ?? []
  if (reason !== undefined && reason !== '') return { decision: 'deny', reason }
  return /^(?:no?|d(?:eny)?)\W*$/i.test(answer) ? { decision: 'deny' } : undefined
}

export const ruledNotUnderstood =
  '  (type y, s, A or d; after s or A you can write a rule, after d a reason for the agent)'

/** Returns the answers, as a menu, to a call that rules may decide. */
export const ruledAnswers = (suggest: readonly string[], isCut: boolean): readonly MenuItem[] => [
  { typed: 'y', label: 'yes, once' },
  ...suggest.map((rule, index) => ({
    typed: index === 0 ? 's' : `s${index + 1}`,
    label: `for this session: ${oneLine(rule)}`,
  })),
  ...suggest.slice(0, 1).map((rule) => ({ typed: 'A', label: `always: ${oneLine(rule)}` })),
  { typed: 'd', label: 'no' },
  { typed: 'd', label: 'no, with a reason for the agent', isBegun: true },
  ...(isCut ? [{ typed: 'v', label: 'view the full call, required before yes' }] : []),
]
