import type {
  PermissionOption,
  PermissionOptionKind,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ToolKind,
} from '@agentclientprotocol/sdk'
import { z } from 'zod'
import type { RemoteHost, RemoteRequest } from '../../../remote/src/remoteAgent.ts'
import type { Subject } from '../../../../src/actors/parts/permissions/subjects.ts'
import { cutEnd, cutMiddle } from '../../../../src/protocol/text/cutMiddle.ts'
import { shellLine } from './shellLine.ts'

/** Kinds of a foreign agent's actions, with the workspace tools that are subject to the same rules. */
const kinds = {
  read: { effects: 'none', tools: ['read_file'] },
  edit: { effects: 'irreversible', tools: ['edit_file', 'write_file'] },
  delete: { effects: 'irreversible', tools: ['delete_file'] },
  move: { effects: 'irreversible', tools: [] },
  search: { effects: 'none', tools: ['search_files'] },
  execute: { effects: 'irreversible', tools: ['run_command'] },
  think: { effects: 'none', tools: [] },
  fetch: { effects: 'irreversible', tools: [] },
  switch_mode: { effects: 'irreversible', tools: [] },
  other: { effects: 'irreversible', tools: [] },
} as const satisfies {
  readonly [K in ToolKind]: Pick<RemoteRequest, 'effects'> & { readonly tools: readonly string[] }
}

/** Kinds of actions that, as declared, concern neither files nor commands nor the network. */
const vague: ReadonlySet<unknown> = new Set(['think', 'switch_mode', 'other'] satisfies ToolKind[])

const isKind = (kind: unknown): kind is ToolKind => typeof kind === 'string' && Object.hasOwn(kinds, kind)

/** Returns the names by which rules can refer to the requests of the named agent. */
export const namesOf = (name: string): readonly string[] => Object.keys(kinds).map((kind) => ownName(name, kind))

const ownName = (name: string, kind: string): string => `${name.slice(0, 63 - kind.length)}_${kind}`

/** Returns the request for an action of a kind, as rules and people judge it. */
export const requestOf = (
  agent: string,
  kind: ToolKind,
  input: unknown,
  subject?: RemoteRequest['subject'],
): RemoteRequest => ({
  names: [ownName(agent, kind), ...kinds[kind].tools],
  effects: kinds[kind].effects,
  input,
  ...(subject === undefined ? {} : { subject }),
})

/** Maximum length of a call's displayed details, beside its title, in characters. */
const mostShown = 20_000

/** Everything needed to ask about a call. */
interface Asking {
  readonly agent: string
  readonly host: Pick<RemoteHost, 'permit' | 'ask'>
  /** Returns a path as rules spell it. `undefined` if it is outside the workspace. */
  spell(path: string): string | undefined
}

/** Submits a foreign agent's request to the rules and people of its caller. Rejects when the call is aborted. */
export async function askPeople(
  { toolCall, options }: RequestPermissionRequest,
  { agent, host, spell }: Asking,
): Promise<RequestPermissionResponse> {
  const title = cutEnd(toolCall.title ?? toolCall.toolCallId, 1_000)
  const chosen = isPermission(options, toolCall.kind)
    ? await permission(host, options, requestFor(agent, title, toolCall, spell))
    : await choice(host, options, title)
  return {
    outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId },
  }
}

/**
 * Returns true for the options of a permission: there is one way to allow it once, and others may say for how long and where. What is done to files, by
 * a command or on the network is never a mere question, whatever its options: rules decide about it.
 */
function isPermission(options: readonly PermissionOption[], given: unknown): boolean {
  const count = (kind: PermissionOptionKind): number => options.filter((option) => option.kind === kind).length
  const once = count('allow_once')
  if (once + count('allow_always') === 0) return false
  if (isKind(given) && !vague.has(given)) return true
  const isRefusable = count('reject_once') + count('reject_always') > 0
  return once <= 1 && (isRefusable || count('allow_always') <= 1)
}

async function permission(
  host: Asking['host'],
  options: readonly PermissionOption[],
  request: RemoteRequest,
): Promise<PermissionOption | undefined> {
  const answer = await host.permit(request)
  // What holds for longer is a matter of our rules, so the agent is told to ask again.
  const wanted = answer.ok ? (['allow_once', 'allow_always'] as const) : (['reject_once', 'reject_always'] as const)
  return wanted.flatMap((kind) => options.find((option) => option.kind === kind) ?? [])[0]
}

/** Asks people to choose among options that answer a question. */
async function choice(
  host: Asking['host'],
  options: readonly PermissionOption[],
  title: string,
): Promise<PermissionOption | undefined> {
  const named = new Map(options.map((option) => [cutEnd(option.name, 200) || option.optionId, option]))
  if (named.size === 0) return undefined
  const name = await host.ask(z.enum([...named.keys()]), title, true)
  return named.get(name)
}

function requestFor(
  agent: string,
  title: string,
  { kind: given, locations, rawInput, content }: RequestPermissionRequest['toolCall'],
  spell: Asking['spell'],
): RemoteRequest {
  const kind = isKind(given) ? given : 'other'
  const paths = (locations ?? []).map(({ path }) => path)
  const shown = JSON.stringify({
    ...(rawInput === undefined ? {} : { rawInput }),
    ...(content == null ? {} : { content }),
  })
  const input = {
    title,
    kind,
    ...(paths.length === 0 ? {} : { paths: paths.slice(0, 100) }),
    ...(shown === '{}' ? {} : { call: shown.length <= mostShown ? JSON.parse(shown) : cutMiddle(shown, mostShown) }),
  }
  return requestOf(agent, kind, input, subjectOf(kind, paths, rawInput, spell))
}

function subjectOf(
  kind: ToolKind,
  paths: readonly string[],
  rawInput: unknown,
  spell: Asking['spell'],
): Subject | readonly Subject[] | undefined {
  switch (kind) {
    case 'read':
    case 'edit':
    case 'delete':
    case 'move':
      // A path from outside is judged as it is, which no rule allows.
      return paths.length === 0 ? undefined : paths.map((path) => ({ path: spell(path) ?? path }))
    case 'execute': {
      const command = commandIn(rawInput)
      return command === undefined ? undefined : { command }
    }
    case 'fetch': {
      const url = typeof rawInput === 'object' && rawInput !== null && 'url' in rawInput ? rawInput.url : undefined
      return typeof url === 'string' ? { url } : undefined
    }
    default:
      return undefined
  }
}

function commandIn(rawInput: unknown): string | undefined {
  const command =
    typeof rawInput === 'object' && rawInput !== null && 'command' in rawInput ? rawInput.command : undefined
  if (typeof command === 'string') return command
  if (!Array.isArray(command) || !command.every((word) => typeof word === 'string')) return undefined
  const [shell = '', flag = '', line] = command
  const isShell = command.length === 3 && /(?:^|\/)(?:ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(flag)
  return isShell ? line : shellLine(command)
}
