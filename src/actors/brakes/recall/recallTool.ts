import { z } from 'zod'
import type { Conversation } from '../../../conversation/tree/conversation.ts'
import { mostRecallLines, recall, type RecallRequest } from '../../../conversation/brakes/recall/recall.ts'
import { recallName } from '../../../conversation/tree/stepText.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { inSlices } from '../../timing/inSlices.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'

/** Result of the recall tool: a request to look something up in the conversation, which tools cannot see. */
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

/** Description of the tool. It is sent with every request, before anything is hidden, so it only says how to ask. */
const description = 'Reads a hidden step as it was: "step", its id in a note, or "query", words to find.'

const lines = `give 1 to ${mostRecallLines}`

/** `recall`: answers from the log, at the end of the request, so that everything before stays unchanged. */
export const recallTool = lazily((): Tool =>
  defineTool({
    name: recallName,
    description,
    effects: 'none',
    // Bounds are checked here and not told: a model that exceeds them reads so.
    input: z
      .object({
        step: z.string().refine(isUpTo(40), 'give an id of at most 40 characters').optional(),
        query: z.string().refine(isUpTo(1_000), 'give at most 1000 characters').optional(),
        lines: z.number().refine(isLineUpTo(mostRecallLines), lines).optional(),
        from: z.number().refine(isLineUpTo(Infinity), 'lines are counted from 1').optional(),
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
const isUpTo =
  (most: number) =>
  ({ length }: string): boolean =>
    length <= most
const isLineUpTo =
  (most: number) =>
  (line: number): boolean =>
    Number.isSafeInteger(line) && line >= 1 && line <= most
