import type { z } from 'zod'
import type { errorInfoSchema } from './errorInfo.ts'
import { mistakesOf } from './checks/mistakes.ts'
import { withoutEnd } from './text/textEnds.ts'

/**
 * Every error code of the library, with the advice for it. An error's message describes the problem and the value that was seen, followed by this
 * advice. `docs/errors.md` has a section for each code.
 */
export const errorTable = {
  INVALID_DEFINITION: 'The guide lists the options of defineAgent and defineTool.',
  INVALID_OPTION: 'Correct the named option.',
  PACKAGE_MISSING: 'Run that in your project, and start again.',
  DEFINITION_MISSING: 'Give the definition of that name too, or leave the agent to the application that has it.',
  DEPS_MISSING:
    'Give deps to runtime.spawn, resume or open, to the prompt, or to agent.resume; a paused run waits for them.',
  INVALID_DEPS: 'Give deps that match the schema in its definition.',
  EFFECTS_MISSING: 'Start agents with runtime.spawn, or provide every effect: machine.provide({ actors }).',
  PERMISSIONS_OFF: 'Set permissions on the definition; {} is enough for modes and for rules that people add.',
  RULE_INVALID: 'Write it as name, name* or name(pattern), such as run_command(npm run *).',
  RULE_NOT_FOUND: 'Give the id of one of the rules in agent.permissions().grants.',
  RULE_STORE_MISSING: 'Add the rule for the session, or set permissions.store, such as fileRules(path).',
  RULE_STORE_FAILED: 'Repair the store of rules. Until then no call is run that rules decide about.',
  INVALID_CONTENT: 'Give text, images or files that are not empty and not too large.',
  INVALID_ID: 'Use 1 to 128 letters, digits, ".", "_" or "-", starting with a letter or digit.',
  AGENT_EXISTS: 'Choose another id, or get the existing agent with runtime.open(id, definition).',
  AGENT_INCOGNITO: 'Talk to it by the handle that spawn returned; to keep an agent, spawn it without incognito.',
  AGENT_NOT_FOUND: 'Check the id and the store, or spawn a new agent.',
  NODE_NOT_FOUND: 'Give the id of a node, as the conversation shows it: n12.',
  SESSION_IN_USE: 'Delete the sessions that depend on it first, or keep it.',
  AGENT_DETACHED: 'To continue, call runtime.open(id, definition), here or in another process; its log is complete.',
  AGENT_STOPPED: 'Spawn a new agent; if it was only closed, runtime.open(id, definition) continues it.',
  RUNTIME_CLOSED: 'Create a new runtime.',
  QUEUE_FULL: 'Wait for a run to end, or raise maxQueue.',
  PROMPT_TOO_LARGE:
    'Shorten it, pass a file that a tool reads in parts, fork the agent from an earlier message, or set compaction.contextWindow to what the model takes.',
  NOT_PAUSED: 'Call resume() while agent.state is "paused" by a limit or a failed store, or after a run that failed.',
  AGENT_PAUSED: 'Fix the store, then call agent.resume().',
  CALL_NOT_PENDING: 'Use the key of its event or of agent.pending(), and decide each key once.',
  ANSWER_INVALID: 'Give an answer that the schema allows; the call keeps waiting.',
  QUESTION_INVALID: 'Ask with a text and a zod schema that JSON can meet, such as z.boolean().',
  QUESTION_DENIED: 'No action needed: the person who was asked declined to answer.',
  QUESTION_CHANGED: 'Make the tool ask the same questions, in the same order, when its call runs again.',
  STATE_OFF: 'Give state: { schema, initial } to defineAgent.',
  STATE_INVALID: 'Correct the value that the message names; the state is unchanged.',
  STATE_CONFLICT: 'Read the state again, and make the change to what it is now.',
  BRAKING_OFF: 'Set braking on the agent: { fold: true } for agent.fold, { policies: [...] } for agent.brake.',
  POLICY_NOT_FOUND: 'Give the name of one of the policies in braking.policies.',
  MODEL_NOT_FOUND: 'List the model in the models of the agent’s definition, by the name that you use.',
  CHILD_REFUSED: 'Raise maxDepth or maxChildren, use fewer sub-agents, or give this one another id.',
  CHILD_CRASHED: "Read the message; the sub-agent's log holds its work so far.",
  CHILD_STALLED: 'Raise stallMs, or give its tools and model shorter time limits.',
  JUDGE_FAILED: 'Check the value that the judge returns; every branch is in its own session.',
  SCHEDULE_INVALID: 'Give one of at, every and cron, with times to come.',
  SCHEDULE_NOT_FOUND: 'List them with agent.schedules().',
  MACHINE_REFUSED: 'Change the machine as the message says.',
  MACHINE_CHANGED:
    'Give migrate, which makes a state of this machine from the kept one, or the version that wrote the log.',
  MACHINE_IMPURE:
    'Let guards, assigns, inputs and delays depend on context and event alone, then raise version and give migrate.',
  MACHINE_FAILED: 'Read the message: the machine has ended there. Handle the error in the machine, and begin another.',
  MACHINE_CLOSED: 'Open it again with hostMachine; its log is complete.',
  MACHINE_NOT_FOUND: 'Check the id; a machine is begun by hostMachine, with an input.',
  EVENT_INVALID: 'Send a JSON object with a type that is not of XState itself, of at most 256 kB.',
  EFFECT_INTERRUPTED: 'Find out whether it was carried out, by its key, before it is tried again.',
  EFFECT_FAILED: 'Read the message; the machine is given the error as an event.',
  PROVIDER_MISSING: 'Render the component below an <AgentProvider client={…}>.',
  BRIDGE_CLOSED: 'Connect again with a new client; a closed one stays closed.',
  SERVER_CLOSED: 'Ask again, here or where its logs are served next: what had begun continues, the rest was not begun.',
  BRIDGE_LISTEN_FAILED: 'Choose another port or host.',
  BRIDGE_UNREACHABLE:
    'Check that the server is running (its /healthz says ok), that the path is right (/bridge), and that its option "origins" lists the page if that has another origin; browsers hide the reason, but the server logs the clients it refuses.',
  BRIDGE_UNAUTHORISED:
    'Give a token that the server knows; if the application decides (authenticate), log in there again.',
  BRIDGE_EXPIRED: 'Ask the person who gave it to you for a new one.',
  BRIDGE_AUTHENTICATE: "Try again later; the server's log says why its function authenticate failed.",
  BRIDGE_SESSION:
    'Leave sessionId out to be given one, or derive it from the token that you send: escapement/docs/protocol.md says how.',
  BRIDGE_FORBIDDEN: 'Use a token with that right, or one that reaches the agent.',
  BRIDGE_FRAME: 'Send frames as escapement/docs/protocol.md describes them.',
  BRIDGE_LIMIT: 'Ask for less at a time, or raise the limits of the server.',
  ENGINE_UNREACHABLE:
    'Check that the engine runs, and that the URL is that of its ingress (port 8080 unless configured); requests that it had accepted continue.',
  ENGINE_REFUSED:
    'Register a worker with the engine (at its /deployments), and use the same object name on both sides.',
  TENANT_LIMIT:
    'Ask again later: too much of this tenant waits. Raise "waiting" or "runs" of its limits ("tenants" of restateWorker), or start more workers.',
  ENGINE_LIMIT: 'Send a shorter message, or put the content where a tool of the agent can read it.',
  ENGINE_UNSUPPORTED: 'Do this in the worker or its definitions, or run the agents without an engine.',
  STORE_CLOSED: 'Open a new store; a closed one cannot be used again.',
  STORE_NOT_OPEN: 'Call open(agentId) before append.',
  STORE_LOCKED:
    'Close what holds the log, or use another folder or agent id; within one runtime, runtime.open() returns the same agent to every caller.',
  AGENT_ELSEWHERE:
    'Send commands to that process, or open the agent with { wait: ms }, which waits until it is free; takeOver: true takes it at once, but with fileStore only from a process that has ended.',
  AGENT_UNREACHABLE:
    'Try again: nothing was lost. The log of the gateway names the worker that it could not reach, and the reason.',
  REQUEST_INTERRUPTED: 'Check whether it was carried out before you send it again; the gateway does not repeat it.',
  STORE_LEASE_LOST:
    'Send commands to the process that has its log open now; records that were not yet written here are lost.',
  STORE_OPEN_FAILED: 'Check the path or address, and the permissions.',
  STORE_READ_FAILED: 'Check the path or address, and the permissions.',
  STORE_DELETE_FAILED: 'Check the path or address, and the permissions; a store without delete() keeps everything.',
  STORE_APPEND_FAILED: 'Free space or repair the store, then call agent.resume(); nothing was lost.',
  OPENAPI_INVALID: 'Correct the part that the message names: the document, its address, or the choice of operations.',
  MEMORY_INVALID: 'Correct the fault that the message names; the memory is unchanged.',
  MEMORY_FAILED: 'Check the path, its permissions and its content; nothing was changed.',
  MEMORY_DAMAGED: 'Correct the entry by hand, or delete it; until then it is kept as it is.',
  WORKSPACE_PATH: 'Give a path in the workspace, relative to its root.',
  WORKSPACE_MISSING: 'List the folder to see what is there.',
  WORKSPACE_KIND: 'Name a file where a file is meant, and a folder where a folder is.',
  WORKSPACE_CHANGED: 'Read the file again, and make the change to what it is now.',
  WORKSPACE_REFUSED: 'Correct the permissions, or use a workspace that can do this.',
  WORKSPACE_FULL: 'Free space, or give the workspace more.',
  WORKSPACE_CLOSED: 'Make another workspace; a closed one stays closed.',
  WORKSPACE_FAILED: 'Try again: the next call opens the workspace anew.',
  TREE_TOO_LARGE: 'Leave folders out with `snapshots: { tree: { exclude } }`, or raise `maxFiles` or `maxBytes` there.',
  RECORD_TOO_LARGE:
    'The record is not in the log. Call abort, stop or close to release the agent; runtime.open continues from its log.',
  FOREIGN_FORMAT:
    'Give a file that escapement export wrote, or a log from a folder of logs; the file was left unchanged.',
  LOG_CORRUPT: 'Restore the file from a copy, or keep the part before the bad line with: escapement repair <file>.',
  LOG_REPAIRED: 'No action needed: the record had not been acknowledged.',
  LOG_VERSION: 'If the log was written by a newer version, update escapement.',
  INVALID_REQUEST: 'This is a bug in escapement: please report it with the message.',
  MODEL_RATE_LIMITED: 'Wait, or lower the number of agents that share the key.',
  MODEL_NETWORK: "Check the connection and the provider's status page, then agent.resume().",
  MODEL_AUTH: "Check the API key, its permissions and the account's credit.",
  MODEL_OVERFLOW: 'Shorten the prompt or enable compaction with the right contextWindow.',
  MODEL_BAD_REQUEST: "Check the model id and the settings against the provider's documentation.",
  MODEL_FAILED: "Read the provider's message, then retry: agent.resume().",
  MODEL_PROTOCOL: 'Correct the model adapter: it yields deltas and then exactly one "done" or "error".',
  MODEL_LIMIT: 'Raise tokensPerMinute of createRuntime({ models }), or shorten the request.',
  ROUTER_FAILED: 'Return a model from the function given to router.',
  REPLY_TOO_LARGE: 'Lower maxTokens, or ask for files instead of their content.',
  REPLY_EMPTY: 'No action needed: the model is asked once more.',
  REPLY_INTERRUPTED: 'Call agent.resume() to ask for it again.',
  MODEL_UNAVAILABLE: "Install the provider's package and set its API key.",
  ABORTED: 'No action needed: the abort was requested.',
  LIMIT_REACHED: 'Raise the limit, then call agent.resume() with it.',
  HOOK_FAILED:
    'Correct the named function of the definition; the guide lists the values that it may return and its time limit.',
  GUARD_REFUSED: 'No action needed: run.end says which guard refused it, and why.',
  GUARD_FAILED:
    'Correct the guard: it must return { ok: true } or { refuse: why } within hookTimeoutMs. Then prompt again.',
  RUN_UNFINISHED: 'Check its session; each with retry: true tries it again.',
  OUTPUT_INVALID: 'Loosen the output schema, or describe it in the instructions.',
  PRICE_UNKNOWN: 'Set pricing on the agent, or remove limits.costUsd.',
  USAGE_UNKNOWN: 'Make the provider report it, for example with includeUsage: true of @ai-sdk/openai-compatible.',
  CACHE_UNUSED: 'Keep instructions and tools the same from turn to turn, or switch caching off with cache: false.',
  EVALUATION_SETUP: 'Correct the task or its folder, then resume.',
  EVALUATION_OUTSIDE: 'Correct the task, or use --docker; then resume.',
  EVALUATION_CHANGED: 'Go on as it began, or evaluate in another folder.',
  EVALUATION_UNREPORTED: 'Correct the path and its permissions, then: escapement eval report <folder>.',
  EVALUATION_UNPUBLISHED: 'Correct the fault that the message names; the page is unchanged.',
  SUBSCRIBER_FAILED: 'Catch errors inside the subscriber.',
  FILE_MISSING:
    'Keep escapement out of the bundle, as escapement/docs/bundlers.md explains. In its repository, run "npm run build".',
  INTERNAL: 'This is a bug in escapement: please report it with the message.',
} as const

export const errorCodes = Object.keys(errorTable) as readonly ErrorCode[]
export type ErrorCode = keyof typeof errorTable
/** Returns true if a text, such as one from a log or a server, is an error code. */
export const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorTable, code)

/** An error as plain data, in events, records and results. */
export type ErrorInfo = z.infer<ReturnType<typeof errorInfoSchema>>

/** Data of `AGENT_ELSEWHERE`: the address of the agent, if one was announced, and the epoch of its lease. */
export interface ErrorData {
  readonly url?: string
  readonly epoch?: number
}

/** Thrown for a programming error or a broken resource; `code` is stable, `message` describes the problem and the remedy. */
export class RuntimeError extends Error {
  override readonly name = 'RuntimeError'
  readonly code: ErrorCode
  /** Further data of some codes. */
  declare readonly data?: ErrorData

  constructor(code: ErrorCode, what: string, { data, ...options }: ErrorOptions & { readonly data?: ErrorData } = {}) {
    super(advised(code, what), options)
    this.code = code
    if (data !== undefined) this.data = data
  }
}

/** Returns an expected failure as plain data, with the table's advice. */
export const errorInfo = (code: ErrorCode, what: string): ErrorInfo => ({
  code,
  message: advised(code, what),
})

/** Codes whose messages already name the value to correct, so a general advice would add nothing. */
const saysItself: ReadonlySet<ErrorCode> = new Set([
  'INVALID_CONTENT',
  'INVALID_DEFINITION',
  'INVALID_OPTION',
  // Models read these for every mistake of theirs.
  'WORKSPACE_PATH',
  'WORKSPACE_MISSING',
  'WORKSPACE_KIND',
  'WORKSPACE_CHANGED',
  'WORKSPACE_REFUSED',
  'WORKSPACE_FULL',
])

/** Returns the sentence that is appended to each message of a code. */
export const adviceOf = (code: ErrorCode): string => (saysItself.has(code) ? '' : ` ${errorTable[code]}`)

/**
 * Appends the advice of the code to a description. A full stop after another end mark is removed, which happens when one message quotes another.
 */
const advised = (code: ErrorCode, what: string): string =>
  // The message of another error has the advice already.
  adviceOf(code) !== '' && what.endsWith(adviceOf(code))
    ? what
    : `${what.replace(/(^|[^.])([.!?])\.$/, '$1$2')}${adviceOf(code)}`.trimEnd()

/** Returns the message of any thrown value. Never throws. */
export function messageOf(thrown: unknown): string {
  try {
    if (typeof thrown === 'string') return thrown || 'an empty string was thrown'
    if (thrown instanceof Error) return firstText(thrown.message, thrown.name) ?? 'an error without a message'
    return typeof thrown === 'object' && thrown !== null ? describeObject(thrown) : String(thrown)
  } catch {
    return 'a value that cannot be shown was thrown'
  }
}

const firstText = (...values: readonly unknown[]): string | undefined =>
  values.find((value) => typeof value === 'string' && value !== '') as string | undefined

function describeObject(thrown: object): string {
  try {
    return JSON.stringify(thrown) ?? Object.prototype.toString.call(thrown)
  } catch {
    return Object.prototype.toString.call(thrown)
  }
}

/** Returns true if a thrown value is a `RuntimeError`. A revoked proxy throws even at `instanceof`. */
function isRuntimeError(thrown: unknown): thrown is RuntimeError {
  try {
    return thrown instanceof RuntimeError
  } catch {
    return false
  }
}

/** Returns the message of a thrown value without the advice of its code, to be quoted within another message. Never throws. */
export function withoutAdvice(thrown: unknown): string {
  const message = messageOf(thrown)
  const advice = isRuntimeError(thrown) ? adviceOf(thrown.code) : ''
  return message.endsWith(advice) ? message.slice(0, message.length - advice.length) : message
}

/** Converts any thrown value to plain data, with its own code if it is a `RuntimeError`, else with `fallback`. */
export const toErrorInfo = (thrown: unknown, fallback: ErrorCode): ErrorInfo =>
  isRuntimeError(thrown)
    ? { code: thrown.code, message: thrown.message }
    : errorInfo(fallback, asSentence(messageOf(thrown)))

/** Returns the text with exactly one full stop at its end. */
export const asSentence = (text: string): string => `${withoutEnd(text, '.!? \t\r\n')}.`

/** Describes zod's issues in one line: `path: message; path: message`. */
export const describeIssues = (error: z.core.$ZodError, of: readonly PropertyKey[] = []): string =>
  mistakesOf(error)
    .map(({ path, message }) => [...[...of, ...path].map(String), message])
    .map((words) => (words.length > 1 ? `${words.slice(0, -1).join('.')}: ${words.at(-1)}` : words[0]))
    .join('; ')

/**
 * Returns options, or another value from the application, as parsed by a schema.
 *
 * @throws RuntimeError `code`. The message names, after `label`, the mistake, the expected value and the value seen.
 */
export function checkedBy<T>(
  schema: z.ZodType<T>,
  value: unknown,
  label: string,
  code: ErrorCode = 'INVALID_OPTION',
): T {
  const { data, error } = schema.safeParse(value, { reportInput: true })
  if (error !== undefined) throw new RuntimeError(code, `${label}: ${describeIssues(error)}.`)
  return data
}

/** Most characters of a value that a message shows. */
const mostQuoted = 200

/** Returns a value that the application gave as messages name it: as JSON, or by its type where JSON cannot hold it. */
export function quoted(value: unknown): string {
  try {
    const json = JSON.stringify(value) ?? typeof value
    return json.length > mostQuoted ? `${json.slice(0, mostQuoted)}…` : json
  } catch {
    return `a value of type ${typeof value}`
  }
}

/** Returns the label of a definition for messages: `Agent "coder"`, or `Agent` if its options have no name. */
export function labelOf(kind: string, options: unknown): string {
  const name = (options as { readonly name?: unknown } | null | undefined)?.name
  return name === undefined ? kind : `${kind} ${quoted(name)}`
}

/** Returns true if a thrown value is an error with this code: one of ours, or a system one such as `ENOENT`. */
export const hasCode = (thrown: unknown, code: string): boolean =>
  thrown instanceof Error && 'code' in thrown && thrown.code === code
