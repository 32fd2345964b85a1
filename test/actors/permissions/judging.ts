import { decideCall, type JudgedCall, type Ruling } from '../../../src/actors/parts/permissions/decideCall.ts'
import { readRule, type Rule, type RuleOption } from '../../../src/actors/parts/permissions/rules.ts'
import type { PermissionMode } from '../../../src/protocol/parts/permissions/permissionModes.ts'

type Given = string | RuleOption

export interface Lists {
  readonly deny?: readonly Given[]
  readonly ask?: readonly Given[]
  readonly allow?: readonly Given[]
  readonly granted?: readonly Given[]
}

export function rule(given: Given): Rule {
  const read = readRule(given)
  if (typeof read === 'string') throw new Error(read)
  return read
}

export const judge = (lists: Lists, call: JudgedCall, mode: PermissionMode = 'ask'): Ruling =>
  decideCall(
    {
      deny: (lists.deny ?? []).map(rule),
      ask: (lists.ask ?? []).map(rule),
      allow: (lists.allow ?? []).map(rule),
      granted: (lists.granted ?? []).map(rule),
    },
    mode,
    call,
  )

export const command = (line: string): JudgedCall => ({
  name: 'run_command',
  input: { command: line },
  effects: 'irreversible',
  subjects: [{ command: line }],
})

export const file = (path: string, name = 'edit_file', effects: JudgedCall['effects'] = 'reversible'): JudgedCall => ({
  name,
  input: { path },
  effects,
  subjects: [{ path }],
})

export const address = (url: string): JudgedCall => ({
  name: 'fetch',
  input: { url },
  effects: 'none',
  subjects: [{ url }],
})
