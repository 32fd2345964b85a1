import { z } from 'zod'
import { lazily } from '../../lazily.ts'

/** When a schedule fires: at a time in epoch milliseconds, every so many milliseconds, or as a cron expression says in a time zone. */
export const scheduleTimesSchema = lazily(() =>
  z.union([
    z.object({ at: z.int() }),
    z.object({ every: z.int().positive() }),
    z.object({ cron: z.string(), timezone: z.string() }),
  ]),
)
export type ScheduleTimes = z.infer<ReturnType<typeof scheduleTimesSchema>>

/**
 * Rule for times that passed while nobody was there: `once` makes one prompt of all of them, `skip` none of those that are more than a minute
 * old, `all` one of each, of the newest ten.
 */
export const catchUpSchema = lazily(() => z.enum(['once', 'skip', 'all']))
export type CatchUp = z.infer<ReturnType<typeof catchUpSchema>>
