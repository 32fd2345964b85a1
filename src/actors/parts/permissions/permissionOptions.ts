import { z } from 'zod'
import { RuntimeError } from '../../../protocol/errors.ts'
import { nearestWord } from '../../../protocol/checks/nearestWord.ts'
import { onlyFields } from '../../../protocol/checks/onlyFields.ts'
import { permissionModes, type PermissionMode } from '../../../protocol/parts/permissions/permissionModes.ts'
import type { RuleStore } from '../../../protocol/ports/ruleStore.ts'
import type { AnyTool } from '../../tools/defineTool.ts'
import { readRule, type Rule, type RuleOption } from './rules.ts'

/** Rules for the calls of an agent and of the agents below it. */
export interface PermissionOptions {
  /** Mode for calls that no rule covers. Default: the mode of the agent that calls this one, else `'ask'`. */
  readonly mode?: PermissionMode
  /** Rules for calls that never run. A rule is `name`, `name*` or `name(pattern)`; a pattern is matched with the tool's `subject`. */
  readonly deny?: readonly (string | RuleOption)[]
  /** Rules for calls that people are asked about, unless an `allow` is more specific. */
  readonly ask?: readonly (string | RuleOption)[]
  /** Rules for calls that run. Their tool may still want an approval, unless the rule says `instead: true`. */
  readonly allow?: readonly (string | RuleOption)[]
  /** Store for the rules that people add for good, such as `fileRules(path)`. Default: none, and they hold for the session. */
  readonly store?: RuleStore
}

export interface PermissionOption {
  /** Rules for calls, by tool and by subject, and a mode for all others. Sub-agents inherit them, and can only be stricter. */
  readonly permissions?: PermissionOptions
}

/** The permissions of a definition. */
export interface PermissionSettings {
  readonly mode: PermissionMode | undefined
  readonly deny: readonly Rule[]
  readonly ask: readonly Rule[]
  readonly allow: readonly Rule[]
  readonly store: RuleStore | undefined
}

export interface PermissionSetting {
  /** Permissions of the definition and, once the conversation was handed over, of the one that answers. Empty: no calls are judged. */
  readonly permissions: readonly PermissionSettings[]
}

const ruleSchema = () =>
  z.union([
    z.string(),
    onlyFields({
      tool: z.string(),
      when: z.custom((value) => typeof value === 'function', 'give a function').optional(),
      instead: z.boolean().optional(),
    }),
  ])

const isStore = (value: unknown): boolean =>
  ['read', 'add', 'remove'].every((name) => typeof (value as Record<string, unknown> | null)?.[name] === 'function')

export const permissionSchema = () =>
  onlyFields({
    mode: z.enum(permissionModes),
    deny: z.array(ruleSchema()),
    ask: z.array(ruleSchema()),
    allow: z.array(ruleSchema()),
    store: z.custom(isStore, 'give { read, add, remove }, such as fileRules(path)'),
  }).partial()

/** Reads the option `permissions`. @throws RuntimeError `INVALID_DEFINITION` */
export function permissionSettings(options: PermissionOptions, label: string): PermissionSettings {
  const rulesIn = (list: 'deny' | 'ask' | 'allow'): readonly Rule[] =>
    (options[list] ?? []).map((given) => {
      const rule = readRule(given)
      if (typeof rule !== 'string') return rule
      throw new RuntimeError('INVALID_DEFINITION', `${label}: permissions: ${list}: ${rule}.`)
    })
  return {
    mode: options.mode,
    store: options.store,
    deny: rulesIn('deny'),
    ask: rulesIn('ask'),
    allow: rulesIn('allow'),
  }
}

/** Names that the rules of a definition may have, with the known facts about them. */
interface Named {
  readonly permissions: readonly PermissionSettings[]
  readonly tools: ReadonlyMap<string, Pick<AnyTool, 'subject' | 'asks'>>
  readonly agents: { keys(): Iterable<string>; has(name: string): boolean }
  readonly toolSources: readonly unknown[]
}

/**
 * Checks that the rules of a definition are about its tools and agents, as far as these are known: sources have theirs later.
 *
 * @throws RuntimeError `INVALID_DEFINITION`
 */
export function checkRules({ permissions, tools, agents, toolSources }: Named, label: string): void {
  const [given] = permissions
  if (given === undefined) return
  const { deny, ask, allow } = given
  const elsewhere = [...tools.values()].flatMap(({ asks = [] }) => asks)
  for (const [list, rules] of Object.entries({ deny, ask, allow }))
    for (const { text, name, isBeginning, pattern } of rules) {
      if (isBeginning || elsewhere.includes(name)) continue
      const wrong = (what: string): RuntimeError =>
        new RuntimeError('INVALID_DEFINITION', `${label}: permissions: ${list}: ${JSON.stringify(text)}: ${what}.`)
      const tool = tools.get(name)
      if (tool === undefined && !agents.has(name) && toolSources.length === 0)
        throw wrong(
          `there is no tool ${JSON.stringify(name)}${hint(name, [...tools.keys(), ...elsewhere, ...agents.keys()])}`,
        )
      if (pattern !== undefined && (tool === undefined ? agents.has(name) : tool.subject === undefined))
        throw wrong(
          `${JSON.stringify(name)} has no subject that a pattern could be about, so only its name can be given`,
        )
    }
}

function hint(name: string, names: readonly string[]): string {
  const nearest = nearestWord(name, names)
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`
}
