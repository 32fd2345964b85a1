import { z } from 'zod'
import { onlyFields } from '../../protocol/checks/onlyFields.ts'
import { lazily } from '../../protocol/lazily.ts'
import { cutEnd } from '../../protocol/text/cutMiddle.ts'
import type { CallInput, CallOutput } from '../../machines/effectTypes.ts'
import { RuntimeError, toErrorInfo } from '../../protocol/errors.ts'
import type { AgentPorts } from '../agentPorts.ts'
import { answerInTime } from '../timing/answerInTime.ts'
import { describe } from './askHook.ts'
import type { Cancellation } from '../timing/cancellation.ts'
import { hookedCall } from './hookedCall.ts'
import type { AfterToolAnswer, HookedResult } from '../define/hooks.ts'
import { clean, contentOf, textBlock } from './resultContent.ts'

interface Reviewed extends HookedResult {
  readonly endsRun?: boolean
  readonly hook?: 'replaced' | 'withheld'
}

const maxAnswerChars = 30_000

/** Returns the result of a call after `afterTool` has reviewed it; without the hook, the result itself. */
export function afterTool<R extends HookedResult & Pick<CallOutput, 'endsRun' | 'value'>>(
  ports: AgentPorts,
  call: CallInput,
  result: R,
  cancellation: Cancellation,
): (R & Reviewed) | Promise<R & Reviewed> {
  const { hooks, turns } = ports.definition
  if (hooks?.afterTool === undefined || turns.always.includes(call.name)) return result
  return review(ports, call, result, cancellation).then((reviewed) => {
    if (reviewed.hook === undefined) return { ...result, ...reviewed }
    // It belongs to the result that is not kept.
    const { data: _, endsRun: __, value: ___, ...kept } = result
    return { ...kept, ...reviewed } as R & Reviewed
  })
}

async function review(
  ports: AgentPorts,
  call: CallInput,
  { content, isError, data }: HookedResult,
  cancellation: Cancellation,
): Promise<Partial<Reviewed>> {
  const { afterTool: hook, timeoutMs } = ports.definition.hooks!
  const { turnIndex, callId, runId } = call
  try {
    const limits = { name: 'afterTool', timeoutMs }
    const answer = await answerInTime(ports, limits, cancellation, (signal) =>
      ports.within({ type: 'tool', turnIndex, callId }, () =>
        hook!(hookedCall(ports, call, signal, 'afterTool'), {
          content: structuredClone(content),
          isError,
          ...(data === undefined ? {} : { data: structuredClone(data) }),
        }),
      ),
    )
    if (answer === undefined) return {}
    checkAnswer(answer)
    const maxChars = ports.definition.tools.get(call.name)?.maxOutputChars ?? maxAnswerChars
    const { endsRun } = answer
    if (!('result' in answer)) return { endsRun: endsRun === true && !isError }
    const isFailure = answer.isError ?? isError
    return {
      content: contentOf(answer.result, maxChars, ports),
      isError: isFailure,
      hook: 'replaced',
      ...(endsRun === true && !isFailure ? { endsRun } : {}),
    }
  } catch (thrown) {
    // The call is over: nothing of this is used.
    if (cancellation.aborted) return {}
    ports.callbackFailed?.('afterTool', thrown)
    const error = clean(ports, toErrorInfo(thrown, 'HOOK_FAILED'))
    ports.emit({ type: 'error', runId, turnIndex, error })
    const text = `It ran, but its result is withheld, as it could not be checked. ${error.message}`
    return { content: [textBlock(text)], isError: true, hook: 'withheld' }
  }
}

const answerSchema = lazily(() =>
  z.union([
    onlyFields({ result: z.unknown(), isError: z.boolean().exactOptional(), endsRun: z.boolean().exactOptional() }),
    onlyFields({ endsRun: z.boolean() }),
  ]),
)

/** Checks an answer of `afterTool`. @throws RuntimeError `HOOK_FAILED` */
function checkAnswer(answer: AfterToolAnswer): asserts answer is Exclude<AfterToolAnswer, undefined> {
  const hasResult = typeof answer === 'object' && answer !== null && ('result' in answer || 'endsRun' in answer)
  if (hasResult && answerSchema().safeParse(answer).success) return
  const seen = cutEnd(describe(answer), 200)
  throw new RuntimeError(
    'HOOK_FAILED',
    `afterTool answered ${seen}, where it may answer nothing or { result, isError?, endsRun? }.`,
  )
}
