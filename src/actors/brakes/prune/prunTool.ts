import { z } from 'zod'
import { lazily } from '../../../protocol/lazily.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import { BrakeCallResult } from '../brakeCall.ts'

const description = `Hide earlier steps of this conversation that no longer matter, to make room: long outputs you have used, searches that led nowhere. Give their ids in "steps" (such as ["n4", "n9"]), or a number of "tokens" to free, oldest steps first. A "memo" of what is still worth knowing takes their place. Messages of the user, and the step of this call, are never hidden. It takes effect once all calls of this reply have ended.`

/** `prun`: only requests a prune; the drain between turns decides. */
export const prunTool = lazily((): Tool =>
  asOwn(
    defineTool({
      name: 'prun',
      description,
      // It only asks.
      effects: 'none',
      input: z
        .object({
          steps: z.array(z.string()).min(1).optional(),
          tokens: z.number().positive().optional(),
          memo: z.string().optional(),
        })
        .refine(({ steps, tokens }) => steps !== undefined || tokens !== undefined, {
          message: 'give "steps" or "tokens"',
        }),
      run: ({ steps, tokens, memo }) =>
        new BrakeCallResult(
          {
            type: 'prune',
            ...(steps === undefined ? {} : { steps }),
            ...(tokens === undefined ? {} : { tokens }),
            ...(memo === undefined ? {} : { memo }),
          },
          'The prune was asked for; it takes effect before your next reply, unless a note below says why not.',
        ),
    }),
  ),
)
