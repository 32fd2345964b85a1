import { z } from 'zod'
import { scheduleIdPattern, scheduleIdWords } from './scheduleId.ts'
import { toAgent } from '../../bridge/toAgent.ts'
import { onlyFields } from '../../checks/onlyFields.ts'
import { lazily } from '../../lazily.ts'
import { nodeIdSchema } from '../../ids.ts'
import { inTurn } from '../../recordShapes.ts'
import { limitsSchema } from '../../runs/runLimits.ts'
import { catchUpSchema, scheduleTimesSchema } from './scheduleTimes.ts'

/** The name of a schedule. */
export const scheduleIdSchema = lazily(() => z.string().regex(scheduleIdPattern, scheduleIdWords))

/** Longest prompt of a schedule, in UTF-16 units. */
const mostPromptChars = 20_000

/** Fields of a schedule beside its name and times, as they are asked for. */
const scheduleShape = lazily(() => ({
  prompt: z.string().trim().min(1).max(mostPromptChars),
  /** Limits of each of its runs. */
  limits: limitsSchema().exactOptional(),
  catchUp: catchUpSchema().exactOptional(),
}))

const command = lazily(() => ({ requestId: z.string().exactOptional() }))

export const scheduleRecords = {
  /** A schedule was made, or another one of its name replaced. */
  'schedule.set': () =>
    z.object({
      ...inTurn(),
      type: z.literal('schedule.set'),
      id: scheduleIdSchema(),
      ...scheduleShape(),
      times: scheduleTimesSchema(),
      catchUp: catchUpSchema(),
      /** When it fires first. */
      due: z.int(),
      by: z.enum(['model', 'person']),
      /** The newest node when a model made it: a revert to before it takes the schedule away. */
      nodeId: nodeIdSchema().exactOptional(),
      ...command(),
    }),
  /** A schedule came due. The prompt that it makes follows in the same step, under the id `schedule/<id>/<due>`. */
  'schedule.fired': () =>
    z.object({
      ...inTurn(),
      type: z.literal('schedule.fired'),
      id: z.string(),
      due: z.int(),
      /** When it fires again; `null`: never. */
      next: z.int().nullable(),
      missed: z.int().nonnegative(),
      /** Set if no prompt is made: the time is too old. */
      skipped: z.literal(true).exactOptional(),
      /** Set if a person asked for it, whatever the time. */
      ...command(),
    }),
  'schedule.removed': () =>
    z.object({
      ...inTurn(),
      type: z.literal('schedule.removed'),
      id: z.string(),
      /** `failed`: its runs did, one after the other; `invalid`: its times can no longer be told. */
      why: z.enum(['asked', 'failed', 'invalid']),
      reason: z.string().exactOptional(),
      ...command(),
    }),
} as const

export const scheduleCommands = {
  'agent.schedule': () =>
    onlyFields({
      ...toAgent(),
      type: z.literal('agent.schedule'),
      /** Its name; `id` is that of the frame. */
      schedule: scheduleIdSchema(),
      ...scheduleShape(),
      at: z.union([z.number(), z.string()]).exactOptional(),
      every: z.number().positive().exactOptional(),
      cron: z.string().exactOptional(),
      timezone: z.string().exactOptional(),
    }),
  'agent.unschedule': () => onlyFields({ ...toAgent(), type: z.literal('agent.unschedule'), schedule: z.string() }),
  /** Fires a schedule now. Its times stay as they are. */
  'agent.fire': () => onlyFields({ ...toAgent(), type: z.literal('agent.fire'), schedule: z.string() }),
} as const
