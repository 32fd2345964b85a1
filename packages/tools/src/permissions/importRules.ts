import type { PermissionMode } from '../../../../src/protocol/parts/permissions/permissionModes.ts'
import { readRule } from '../../../../src/actors/parts/permissions/rules.ts'

/** Rules of another program, as the option `permissions` takes them. */
export interface ImportedRules {
  readonly permissions: {
    readonly mode?: PermissionMode
    readonly deny: readonly string[]
    readonly ask: readonly string[]
    readonly allow: readonly string[]
  }
  /** Sentences about rules without a counterpart here, one for each. */
  readonly lost: readonly string[]
}

export interface ImportOptions {
  /** Takes over rules that allow every command; otherwise people are asked. Default `false`. */
  readonly trust?: boolean
}

type Action = 'deny' | 'ask' | 'allow'

/** A rule, or the reason why there is none. */
type Translated = { readonly rules: readonly string[] } | { readonly lost: string }

const claudeModes: { readonly [mode: string]: PermissionMode } = {
  default: 'ask',
  acceptEdits: 'edits',
  plan: 'plan',
  dontAsk: 'refuse',
  bypassPermissions: 'auto',
}

/** Tools of `workspaceTools` by the tool of Claude Code that they correspond to. */
const claudeTools: { readonly [name: string]: readonly string[] } = {
  Bash: ['run_command'],
  Read: ['read_file'],
  Edit: ['edit_file', 'write_file'],
  MultiEdit: ['edit_file', 'write_file'],
  Write: ['write_file'],
  Glob: ['list_files'],
  LS: ['list_files'],
  Grep: ['search_files'],
}

/** Returns the permissions of a settings file of Claude Code, as parsed JSON. Pure; never throws. */
export function claudeRules(settings: unknown, { trust = false }: ImportOptions = {}): ImportedRules {
  const { permissions } = fieldsOf(settings)
  const { deny, ask, allow, defaultMode, ...others } = fieldsOf(permissions)
  const taken = collect(trust)
  for (const [action, list] of Object.entries({ deny, ask, allow }))
    for (const rule of Array.isArray(list) ? list : []) taken.add(action as Action, rule, claudeRule(rule))
  for (const name of Object.keys(others)) taken.lose(`permissions.${name} has no counterpart.`)
  const mode = typeof defaultMode === 'string' ? claudeModes[defaultMode] : undefined
  if (defaultMode !== undefined && mode === undefined)
    taken.lose(`The mode ${JSON.stringify(defaultMode)} has no counterpart.`)
  if (mode === 'auto' && !trust) taken.lose('The mode "bypassPermissions" is taken over only with trust: true.')
  return taken.result(mode === 'auto' && !trust ? undefined : mode)
}

/** Prefix of the names of tools of MCP servers, as in `mcp__github__get_issue`. */
const ofServer = 'mcp__'

function claudeRule(rule: unknown): Translated {
  const [, name = '', pattern] = (typeof rule === 'string' ? /^([\w-]+\*?)(?:\(([^]*)\))?$/.exec(rule) : null) ?? []
  if (name === '') return { lost: 'it is no rule' }
  if (name.startsWith(ofServer)) {
    const [server = '', ...tool] = name.slice(ofServer.length).split('__')
    return { rules: [`${server}_${tool.length === 0 ? '*' : tool.join('__')}`] }
  }
  const tools = claudeTools[name]
  if (tools === undefined) return { lost: 'no tool here is as that one' }
  if (pattern === undefined || pattern === '*') return { rules: tools }
  const said = name === 'Bash' ? { pattern: wordsOf(pattern) } : pathOf(pattern)
  return 'lost' in said ? said : { rules: tools.map((one) => `${one}(${said.pattern})`) }
}

/** Converts a pattern in which `*` stands for anything, and `:*` at the end for further words, to words. */
const wordsOf = (pattern: string): string => pattern.replace(/:\*$/, ' *').replace(/(?<=[^\s*])\*$/, '* *')

function pathOf(pattern: string): { readonly pattern: string } | { readonly lost: string } {
  if (/^(?:~|\/\/|\.\.\/)/.test(pattern))
    return { lost: 'it is about files outside the workspace, which no tool here reaches' }
  if (pattern.startsWith('!')) return { lost: 'rules that take back others are not known here' }
  return { pattern: pattern.endsWith('/') ? `${pattern}**` : pattern }
}

/** Tools of `workspaceTools` by the permission of opencode that they correspond to. */
const opencodeTools: { readonly [name: string]: readonly string[] } = {
  '*': ['*'],
  bash: ['run_command'],
  read: ['read_file'],
  edit: ['edit_file', 'write_file', 'delete_file'],
  glob: ['list_files'],
  list: ['list_files'],
  grep: ['search_files'],
}

/** Returns the permissions of a configuration file of opencode, as parsed JSON. Pure; never throws. */
export function opencodeRules(config: unknown, { trust = false }: ImportOptions = {}): ImportedRules {
  const { permission } = fieldsOf(config)
  const taken = collect(trust)
  const all = typeof permission === 'string' ? { '*': permission } : fieldsOf(permission)
  for (const [name, said] of Object.entries(all)) {
    const tools = opencodeTools[name] ?? (/^[\w-]+\*?$/.test(name) && name.includes('_') ? [name] : undefined)
    const lines = typeof said === 'string' ? [['*', said] as const] : Object.entries(fieldsOf(said))
    const seen: string[] = []
    for (const [pattern, action] of lines) {
      const shown = `${name}(${pattern})`
      if (!isAction(action)) taken.lose(`${shown}: ${JSON.stringify(action)} is no decision.`)
      else
        taken.add(
          action,
          shown,
          tools === undefined ? { lost: 'no tool here is as that one' } : opencodeRule(name, tools, pattern),
        )
      if (action === 'allow' && seen.length > 0 && pattern === '*')
        taken.lose(`${shown}: there the last rule counts; here ${seen.join(', ')} holds before it.`)
      if (action !== 'allow') seen.push(shown)
    }
  }
  return taken.result()
}

function opencodeRule(name: string, tools: readonly string[], pattern: string): Translated {
  if (pattern === '*') return { rules: tools }
  const said = name === 'bash' ? { pattern: wordsOf(pattern) } : pathOf(pattern)
  return 'lost' in said ? said : { rules: tools.map((one) => `${one}(${said.pattern})`) }
}

const isAction = (value: unknown): value is Action => value === 'deny' || value === 'ask' || value === 'allow'

function fieldsOf(value: unknown): { readonly [name: string]: unknown } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {}
}

/** Gathers rules. Those that would allow every command become questions, unless they are trusted. */
function collect(trust: boolean) {
  const lists = { deny: new Set<string>(), ask: new Set<string>(), allow: new Set<string>() }
  const lost: string[] = []
  return {
    lose: (sentence: string): void => void lost.push(sentence),
    add(action: Action, from: unknown, to: Translated): void {
      const shown = typeof from === 'string' ? from : JSON.stringify(from)
      if ('lost' in to) return void lost.push(`${shown}: ${to.lost}.`)
      for (const rule of to.rules) {
        const wrong = readRule(rule)
        const isAll = rule === '*' || /^run_command(?:\([\s*]*\))?$/.test(rule)
        const isDoubtful = action === 'allow' && isAll && !trust
        if (typeof wrong === 'string') lost.push(`${shown}: ${wrong}.`)
        else lists[isDoubtful ? 'ask' : action].add(rule)
        if (isDoubtful) lost.push(`${shown}: it allows everything, so people are asked; trust: true takes it over.`)
      }
    },
    result: (mode?: PermissionMode): ImportedRules => ({
      permissions: {
        ...(mode === undefined ? {} : { mode }),
        deny: [...lists.deny],
        ask: [...lists.ask],
        allow: [...lists.allow],
      },
      lost,
    }),
  }
}
