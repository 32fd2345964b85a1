import type { HookInput } from '../../machines/effectTypes.ts'
import { messageOf } from '../../protocol/errors.ts'
import { cutMiddle } from '../../protocol/text/cutMiddle.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { answerInTime } from '../timing/answerInTime.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { neverAsks } from '../tools/defineTool.ts'
import { clean } from './resultContent.ts'
import { runContext, type RunContext } from './runContext.ts'

/**
 * Returns true if a person must approve a call; a predicate that throws or rejects means yes. Bad arguments and unknown tools need no
 * approval: they are answered with an error and never run.
 */
export function needsApproval(
  ports: Pick<AgentPorts, 'definition' | 'callbackFailed'>,
  { name, input }: { readonly name: string; readonly input: unknown },
  context: () => RunContext<never>,
): boolean | Promise<boolean> {
  const tool = ports.definition.tools.get(name)
  if (tool === undefined || tool.needsApproval === neverAsks) return false
  const parsed = tool.parse(input)
  if (!parsed.ok) return false
  const failed = (thrown: unknown): true => {
    ports.callbackFailed?.(`needsApproval of tool "${name}"`, thrown)
    return true
  }
  try {
    const answer = tool.needsApproval(parsed.value, context())
    return typeof answer === 'boolean' ? answer : Promise.resolve(answer).catch(failed)
  } catch (thrown) {
    return failed(thrown)
  }
}

type CheckedCall = Pick<HookInput, 'name' | 'input'>
type Place = Pick<HookInput, 'runId' | 'turnIndex'>

/**
 * Returns the reason, for the model, why a call cannot succeed. The `check` of its tool gives it before a person is
 * asked. `undefined` if the call may succeed, or if the check does not answer in time or is aborted. Never rejects.
 */
export async function mistakeIn(
  ports: AgentPorts,
  call: CheckedCall,
  at: Place,
  cancellation: Cancellation,
): Promise<string | undefined> {
  const tool = ports.definition.tools.get(call.name)
  const check = tool?.check
  if (check === undefined) return undefined
  const parsed = tool!.parse(call.input)
  if (!parsed.ok) return undefined
  const closeWith: NonNullable<AgentPorts['closeWith']> = (resource, of) => ports.closeWith?.(resource, of) ?? false
  const limits = { name: `check of tool "${call.name}"`, timeoutMs: Math.min(tool!.timeoutMs, longestCheckMs) }
  const ask = async (signal: AbortSignal): Promise<string | undefined> => {
    try {
      await check(parsed.value, { ...runContext(ports, at, { signal }), redact: ports.redactor, closeWith })
      return undefined
    } catch (thrown) {
      return cutMiddle(clean(ports, messageOf(thrown)), tool!.maxOutputChars)
    }
  }
  try {
    return await answerInTime(ports, limits, cancellation, ask)
  } catch (thrown) {
    if (!cancellation.aborted) ports.callbackFailed?.(limits.name, thrown)
    return undefined
  }
}

const longestCheckMs = 60_000

/** Decision about asking people. `mistake`: the reason, for the model, why they are not asked. */
export interface Asking {
  readonly needsApproval: boolean
  readonly mistake?: string
}

/** Answer for a call that nobody is asked about. */
export const notAsked: Asking = { needsApproval: false }
const asked: Asking = { needsApproval: true }

/** Decides whether people are asked about a call. They are not if its tool finds that it cannot succeed. Never rejects. */
export function askingAbout(
  ports: AgentPorts,
  call: CheckedCall,
  at: Place,
  cancellation: Cancellation,
): Asking | Promise<Asking> {
  const decided = (isNeeded: boolean): Asking | Promise<Asking> => {
    if (!isNeeded) return notAsked
    if (ports.definition.tools.get(call.name)?.check === undefined) return asked
    return mistakeIn(ports, call, at, cancellation).then((mistake) =>
      mistake === undefined ? asked : { needsApproval: false, mistake },
    )
  }
  const needed = needsApproval(ports, call, () => runContext(ports, at, cancellation))
  return typeof needed === 'boolean' ? decided(needed) : needed.then(decided)
}
