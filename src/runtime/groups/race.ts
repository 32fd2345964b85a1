import type { Content } from '../../protocol/content.ts'
import type { GroupEntry, GroupHost, GroupOptions } from './branch.ts'
import { checkOptions, groupOptionsSchema } from './checkGroup.ts'
import { parallel, type ParallelResult } from './parallel.ts'

/**
 * Gives the same prompt to several agents at once; the first to end well wins and the others are aborted. The same as `parallel`
 * with the judge `'first'`, and throws as it does.
 *
 * @example
 * ```ts
 * const { winner } = await race(runtime, [fast, sure], 'What is the capital of France?')
 * if (winner !== null) console.log(`${winner.definition}: ${winner.result.text}`)
 * ```
 */
export async function race(
  host: GroupHost,
  entries: readonly GroupEntry[],
  prompt: Content,
  options: GroupOptions = {},
): Promise<ParallelResult> {
  checkOptions('race', groupOptionsSchema, host, options)
  return parallel(host, entries, prompt, { ...options, judge: 'first' })
}
