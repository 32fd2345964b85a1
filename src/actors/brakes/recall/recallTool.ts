import { z } from 'zod'
import type { Conversation } from '../../../conversation/tree/conversation.ts'
import {
  defaultRecallLines,
  mostRecallLines,
  recall,
  type RecallRequest,
} from '../../../conversation/brakes/recall/recall.ts'
import { recallName } from '../../../conversation/tree/stepText.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { inSlices } from '../../timing/inSlices.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'

/** Result of the recall tool: a request to look something up in the conversation, which a tool does not see. */
export class RecallCall {
  readonly #request: RecallRequest

  constructor(request: RecallRequest) {
    this.#request = request
  }

  /** Searches in slices, so that timers and sockets are not blocked. Rejects with a message about the model's mistake, and when aborted. */
  async answer(conversation: Conversation, signal: AbortSignal): Promise<string> {
    const { text, isError } = await inSlices(recall(conversation, this.#request), signal)
    if (isError) throw new Error(text)
    return text
  }
}

const description = `Read again what is no longer shown to you in full: steps that were reverted, hidden, summarised or cut short, from the log. Give a "step" that a note, memo or summary names, such as "n57"; or a "query" of names and words, to find the steps that hold them, exact names first; or both, to search within that step. "lines" limits the answer (default ${defaultRecallLines}); "from" is the line of a step to begin at. What you read is what was said or returned then: files and facts may have changed since.`

const lines = `give 1 to ${mostRecallLines}`

/** `recall`: answers from the log, at the end of the request, so that everything before stays unchanged. */
export const recallTool = lazily((): Tool =>
  defineTool({
    name: recallName,
    description,
    effects: 'none',
    input: z
      .object({
        step: z.string().max(40).optional(),
        query: z.string().max(1_000).optional(),
        lines: z.int().min(1, lines).max(mostRecallLines, lines).optional(),
        from: z.int().min(1, 'lines are counted from 1').optional(),
      })
      .refine(({ step, query }) => isGiven(step) || isGiven(query), { message: 'give "step", "query" or both' })
      .refine(({ step, from }) => from === undefined || isGiven(step), { message: '"from" needs a "step"' }),
    run: ({ step, query, lines: most, from }) =>
      new RecallCall({
        // Models that must fill every field leave one of them blank.
        step: isGiven(step) ? step : undefined,
        query: isGiven(query) ? query : undefined,
        lines: most,
        from,
      }),
  }),
)

const isGiven = (text: string | undefined): boolean => text !== undefined && text.trim() !== ''
