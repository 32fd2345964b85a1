import { sleepName } from '../parts/sleep/sleepTool.ts'
import { cloneJson } from '../../protocol/checks/cloneJson.ts'
import { messageOf, type ErrorInfo } from '../../protocol/errors.ts'
import type { InnerDecision } from '../../protocol/parts/inner/innerDecisions.ts'
import { denialText } from '../../protocol/text/denial.ts'
import { isBlocks } from '../tools/isBlocks.ts'
import { jsonOf } from '../tools/jsonOf.ts'
import { maxDataBytes } from '../../protocol/resultData.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { plainBlocks } from './resultContent.ts'
import { keepJson } from './resultData.ts'
import type { CallOutput } from '../../machines/effectTypes.ts'
import type { PartDraft } from '../../machines/partStates.ts'
import { readAnswer } from '../../protocol/checks/readOutput.ts'
import { textOf } from '../../protocol/messages.ts'
import { isOwn } from '../tools/ownTools.ts'
import { transferName } from '../tools/transferTool.ts'
import type { AgentDefinition, Callee } from '../define/agentDefinition.ts'

/** End of a call that a running call made, in the form of its record. */
export type End = Omit<Extract<PartDraft, { type: 'inner.end' }>, 'type' | 'callId' | 'key' | 'n' | 'name' | 'at'>

/** Arguments with which a call may start, and the rule that allows it. */
export interface Permitted {
  readonly input: unknown
  readonly rule?: string
}

/** Permission for a call to start, or the end of a call that may not. */
export type Allowed = Permitted | { readonly end: End }

export const failed = (message: string, code?: string): End => ({
  error: code === undefined ? { message } : { message, code },
})

export const interrupted = failed(
  'The process ended while this call ran: it is not known whether it happened.',
  'INTERRUPTED',
)
export const outOfTime = failed('Not run: the time of this run is over. Return what you have.', 'LIMIT')

/** Returns the end of a call that cannot be made from another call; `undefined` if it can be made. Pure. */
export function whyNotCallable({ agents, handoffs, tools }: AgentDefinition, name: string): End | undefined {
  const agent = agents.get(name)
  if (agent !== undefined)
    return agent.detach === false
      ? undefined
      : failed(`"${name}" works on its own, and no script waits for it: call it yourself.`, 'NOT_CALLABLE')
  if ([...handoffs.keys()].some((to) => transferName(to) === name))
    return failed('A script cannot hand the conversation over: call the tool yourself.', 'NOT_CALLABLE')
  const tool = tools.get(name)
  if (tool === undefined) return failed(`There is no tool "${name}".`, 'UNKNOWN_TOOL')
  if (tool.external === true || tool.spec?.provider !== undefined)
    return failed(`"${name}" is not carried out here: call it yourself.`, 'NOT_CALLABLE')
  if (isOwn(tool) && name === sleepName)
    return failed('In a script, "await sleep(ms)" waits, or "await sleep(time)".', 'NOT_CALLABLE')
  return undefined
}

/** Returns the answer of a sub-agent: its data if it has an output schema, otherwise its whole text. */
export function agentEnd(
  agent: Callee | undefined,
  { content, whole, isError, isOverAllowance, error }: CallOutput,
): End {
  const text = whole ?? textOf(content)
  if (isError) return failed(text, isOverAllowance === true ? 'LIMIT' : (error?.code ?? 'UNFINISHED'))
  const schema = agent?.definition.output ?? null
  if (schema === null) return { value: text }
  const answer = readAnswer(schema, text)
  return answer.ok ? { value: answer.value } : failed(`Its answer is of no use: ${answer.wrong}.`, 'UNFINISHED')
}

/** Returns the code of an error, such as `ENOENT`. */
export function codeOf(thrown: unknown): string | undefined {
  const code: unknown = thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : undefined
}

export const unwritten = ({ message }: ErrorInfo): Error => new Error(message)

export function allowedBy(
  { decision, reason, input: edited }: Omit<InnerDecision, 'key' | 'asked'>,
  input: unknown,
): Allowed {
  return decision === 'approve' ? { input: edited ?? input } : { end: failed(denialText(reason), 'DENIED') }
}

export async function ownEnd(own: () => unknown): Promise<End> {
  try {
    return { value: valueOf(await own()) }
  } catch (thrown) {
    return failed(messageOf(thrown), codeOf(thrown))
  }
}

/** Converts the return value of a tool to JSON. Blocks of text become their text. */
export function valueOf(value: unknown): unknown {
  if (value === undefined) return null
  if (typeof value === 'string') return value
  if (!isBlocks(value)) return JSON.parse(jsonOf(value) || 'null')
  const blocks = plainBlocks(value)!
  return blocks.every(({ type }) => type === 'text') ? textOf(blocks) : cloneJson(blocks)
}

export const shownOf = ({ value, error }: End): unknown => error?.message ?? value

export const reviewedEnd = ({ content, isError }: { content: Parameters<typeof textOf>[0]; isError: boolean }): End =>
  isError ? failed(textOf(content), 'WITHHELD') : { value: valueOf(content) }

/** Returns the end in the form of its record. A large value is kept beside the log if possible. */
export async function keptEnd(ports: AgentPorts, end: End): Promise<End> {
  const { value, ...others } = end
  const text = value === undefined ? '' : JSON.stringify(value)
  // No character takes more bytes.
  if (text.length * 3 <= maxDataBytes) return end
  const bytes = new TextEncoder().encode(text)
  if (bytes.length <= maxDataBytes) return end
  return keepJson(bytes, text, ports).then(
    (apart) => ({ ...others, apart }),
    () => end,
  )
}
