import { z } from 'zod'
import { pinBrake } from '../../../protocol/brakes/pins/pinBrake.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import { BrakeCallResult } from '../brakeCall.ts'

const description = `Keep a step of this conversation in sight, word for word, when older steps are hidden or summarised: a specification, a decision, a result that you will need to the end. Any id of a step names the whole step, such as "n12". Pin little: what is pinned is in every request. Going back before the step still gives it up. It takes effect once all calls of this reply have ended.`

/** `pin_step`: only requests a pin; the drain between turns decides. */
export const pinTool = lazily((): Tool =>
  asOwn(
    defineTool({
      name: pinBrake.tool,
      description,
      // It only asks.
      effects: 'none',
      input: z.object({ step: z.string() }),
      run: ({ step }) =>
        new BrakeCallResult(
          { type: 'pin', step, pinned: true },
          'The pin was asked for; it holds from your next reply on, unless a note below says why not.',
        ),
    }),
  ),
)
