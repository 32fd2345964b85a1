import { cutEnd } from '../../../protocol/text/cutMiddle.ts'
import type { ReplyInput } from '../../../machines/effectTypes.ts'
import { asSentence, errorInfo, messageOf } from '../../../protocol/errors.ts'
import type { GuardVerdict } from '../../../protocol/guarding.ts'
import type { AgentPorts } from '../../agentPorts.ts'
import { answerInTime } from '../../timing/answerInTime.ts'
import { describe } from '../../calls/askHook.ts'
import { Cancellation } from '../../timing/cancellation.ts'
import type { Guard, GuardContext } from '../../define/hooks.ts'
import { clean } from '../../calls/resultContent.ts'
import { runContext, type RunContext } from '../../calls/runContext.ts'

const longestReason = 2_000

type Asked = Omit<GuardContext<never>, keyof RunContext>

/**
 * Asks all guards of one side at once and returns their verdict: the first guard that does not let the text pass decides. Never rejects.
 */
export async function askGuards(
  ports: AgentPorts,
  place: Pick<ReplyInput, 'runId' | 'turnIndex'>,
  asked: Asked,
  cancellation: Cancellation,
): Promise<GuardVerdict> {
  const { at } = asked
  const guards = ports.definition.guards![at]
  // Once one has decided, the others need not go on.
  const all = new Cancellation()
  const stop = (): void => all.abort()
  if (cancellation.aborted) stop()
  else cancellation.add(stop)
  const verdicts = guards.map((guard, index) => askGuard(ports, place, { guard, index }, asked, all))
  const decided = verdicts.map(async (verdict) => {
    const one = await verdict
    // So that the first to object ends the wait for all.
    if (one !== undefined) throw new Objection(one)
  })
  try {
    await Promise.all(decided)
    return { at, decision: 'passed' }
  } catch (thrown) {
    return (thrown as Objection).verdict
  } finally {
    cancellation.remove(stop)
    stop()
  }
}

class Objection extends Error {
  readonly verdict: GuardVerdict

  constructor(verdict: GuardVerdict) {
    super()
    this.verdict = verdict
  }
}

/** Asks one guard; `undefined` if it lets the text pass. Never rejects. */
async function askGuard(
  ports: AgentPorts,
  place: Pick<ReplyInput, 'runId' | 'turnIndex'>,
  { guard, index }: { readonly guard: Guard<never>; readonly index: number },
  asked: Asked,
  cancellation: Cancellation,
): Promise<GuardVerdict | undefined> {
  const { at } = asked
  const name = guard.name === '' ? `${at} guard ${index + 1}` : guard.name
  try {
    const limits = { name: 'it', timeoutMs: ports.definition.guards!.timeoutMs }
    const answer: unknown = await answerInTime(ports, limits, cancellation, (signal) =>
      ports.within({ type: 'hook' }, () => guard({ ...runContext(ports, place, { signal }), ...asked })),
    )
    const reason = refusalIn(answer)
    if (reason === undefined) return undefined
    return { at, decision: 'refused', guard: name, reason: cutEnd(asSentence(clean(ports, reason)), longestReason) }
  } catch (thrown) {
    if (!cancellation.aborted) ports.callbackFailed?.(`The guard ${name}`, thrown)
    const why = `The guard ${name} came to no decision: ${messageOf(thrown)}`
    const error = clean(ports, errorInfo('GUARD_FAILED', asSentence(why)))
    return { at, decision: 'failed', guard: name, error }
  }
}

/** Returns the reason of a refusal; `undefined` if there is none. */
function refusalIn(answer: unknown): string | undefined {
  if (typeof answer === 'object' && answer !== null) {
    const [first, ...others] = Object.entries(answer)
    const [field, value] = first ?? []
    if (others.length === 0 && field === 'ok' && value === true) return undefined
    if (others.length === 0 && field === 'refuse' && typeof value === 'string' && value.trim() !== '') return value
  }
  throw new Error(`it answered ${cutEnd(describe(answer), 200)}, where it may answer { ok: true } or { refuse: 'why' }`)
}
