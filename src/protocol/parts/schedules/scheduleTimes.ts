import { z } from 'zod'
import { lazily } from '../../lazily.ts'

/** Times at which a schedule fires: once at a time in epoch milliseconds, at an interval in milliseconds, or by a cron expression in a time zone. */
export const scheduleTimesSchema = lazily(() =>
  z.union([
    z.object({ at: z.int() }),
    z.object({ every: z.int().positive() }),
    z.object({ cron: z.string(), timezone: z.string() }),
  ]),
)
export type ScheduleTimes = z.infer<ReturnType<typeof scheduleTimesSchema>>

/**
 * Rule for times that passed while the agent was not running: `once` makes one prompt for all of them, `skip`
 * none for those more than a minute old, `all` one for each of the newest ten.
 */
export const catchUpSchema = lazily(() => z.enum(['once', 'skip', 'all']))
export type CatchUp = z.infer<ReturnType<typeof catchUpSchema>>
