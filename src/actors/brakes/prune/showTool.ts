import { z } from 'zod'
import { pruneBrake } from '../../../protocol/brakes/prune/pruneBrake.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import { BrakeCallResult } from '../brakeCall.ts'

const description = `Show hidden steps of this conversation again, in their places and in full, for good: "steps", their ids in a note (such as ["n4", "n9"]). Only for steps that you will need again and again; "recall", if you have it, reads a step once and costs less. It takes effect once all calls of this reply have ended.`

/** `show_step`: only requests it; the drain between turns decides. */
export const showTool = lazily((): Tool =>
  asOwn(
    defineTool({
      name: pruneBrake.showTool,
      description,
      // It only asks.
      effects: 'none',
      input: z.object({ steps: z.array(z.string().max(40)).min(1).max(100) }),
      run: ({ steps }) =>
        new BrakeCallResult(
          { type: 'prune', steps, show: true },
          'It was asked for; the steps are shown before your next reply, unless a note below says why not.',
        ),
    }),
  ),
)
