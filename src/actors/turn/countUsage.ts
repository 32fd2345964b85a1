import type { TokenCounter } from '../../conversation/limits/tokenCounter.ts'
import { noUsage, type Usage } from '../../protocol/messages.ts'
import type { ModelReply } from '../../protocol/ports/model.ts'

/**
 * Returns the usage of one reply. A provider that reports no tokens did not count, because no request is empty.
 * Estimates stand in then, `inputTokens` for the request and the counter's for the reply, and the usage says so. Pure.
 */
export function countUsage(
  { content, usage }: Pick<ModelReply, 'content' | 'usage'>,
  inputTokens: number,
  counter: TokenCounter,
): Usage {
  const told = toldBy(usage)
  const { input, output, cacheRead, cacheWrite } = told
  const isInputTold = input + cacheRead + cacheWrite > 0
  const isOutputTold = output > 0 || content.length === 0
  if (isInputTold && isOutputTold) return told
  const said = () => counter.message({ role: 'assistant', content, stopReason: 'stop', usage: noUsage, model: '' })
  return {
    ...told,
    ...(isInputTold ? {} : { input: inputTokens }),
    ...(isOutputTold ? {} : { output: said() }),
    estimated: true,
  }
}

/** Takes only the counts that are numbers: a model written by hand may leave counts out, and a division by nothing makes them `NaN`. */
export function toldBy(usage: Partial<Usage> | undefined): Usage {
  const { input, output, cacheRead, cacheWrite, reasoning, estimated } = usage ?? {}
  const told: Usage = {
    input: numberOf(input),
    output: numberOf(output),
    cacheRead: numberOf(cacheRead),
    cacheWrite: numberOf(cacheWrite),
  }
  if (Number.isFinite(reasoning)) told.reasoning = reasoning!
  if (estimated === true) told.estimated = true
  return told
}

const numberOf = (count: number | undefined): number => (Number.isFinite(count) ? count! : 0)
