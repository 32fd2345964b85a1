import { z } from 'zod'
import { graftBrake } from '../../../protocol/brakes/graft/graftBrake.ts'
import { lazily } from '../../../protocol/lazily.ts'
import { defineTool, type Tool } from '../../tools/defineTool.ts'
import { asOwn } from '../../tools/ownTools.ts'
import { BrakeCallResult } from '../brakeCall.ts'

const description = `Bring steps of an abandoned branch back, as copies at the end of this conversation: when a branch that was reverted held something that you now need in full, and its note does not say it. Give their ids in "steps", such as ["n12", "n14"]; any id of a step names the whole step. Nothing is run again and no file is touched: you see what was said and returned then. Messages of the user are never copied. It takes effect once all calls of this reply have ended.`

/** `graft`: only requests copies; the drain between turns decides. */
export const graftTool = lazily((): Tool =>
  asOwn(
    defineTool({
      name: graftBrake.tool,
      description,
      // It only asks.
      effects: 'none',
      input: z.object({ steps: z.array(z.string()).min(1) }),
      run: ({ steps }) =>
        new BrakeCallResult(
          { type: 'graft', steps },
          'The graft was asked for; the copies follow below, unless a note says why not.',
        ),
    }),
  ),
)
