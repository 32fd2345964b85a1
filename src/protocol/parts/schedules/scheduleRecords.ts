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

/** Fields of a schedule besides its name and times, as requested. */
const scheduleShape = lazily(() => ({
  prompt: z.string().trim().min(1).max(mostPromptChars),
  /** Limits of each of its runs. */
  limits: limitsSchema().exactOptional(),
  catchUp: catchUpSchema().exactOptional(),
}))

const command = lazily(() => ({ requestId: z.string().exactOptional() }))

export const scheduleRecords = {
  /** A new schedule, or the replacement of the one with the same name. */
  'schedule.set': () =>
    z.object({
      ...inTurn(),
      type: z.literal('schedule.set'),
      id: scheduleIdSchema(),
      ...scheduleShape(),
      times: scheduleTimesSchema(),
      catchUp: catchUpSchema(),
      /** Time of the first firing, in epoch milliseconds. */
      due: z.int(),
      by: z.enum(['model', 'person']),
      /** The newest node when a model made the schedule. A revert to before it removes the schedule. */
      nodeId: nodeIdSchema().exactOptional(),
      ...command(),
    }),
  /** The firing of a schedule. Its prompt follows in the same step, under the id `schedule/<id>/<due>`. */
  'schedule.fired': () =>
    z.object({
      ...inTurn(),
      type: z.literal('schedule.fired'),
      id: z.string(),
      due: z.int(),
      /** Time of the next firing, in epoch milliseconds; `null` means never. */
      next: z.int().nullable(),
      missed: z.int().nonnegative(),
      /** Set if no prompt is made because the time is too old. */
      skipped: z.literal(true).exactOptional(),
      /** Id of the command, set if a person fired the schedule, whatever the time. */
      ...command(),
    }),
  'schedule.removed': () =>
    z.object({
      ...inTurn(),
      type: z.literal('schedule.removed'),
      id: z.string(),
      /** Reason for the removal. `failed`: several of its runs in a row failed. `invalid`: its times can no longer be computed. */
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
      /** Name of the schedule. `id` is the frame's. */
      schedule: scheduleIdSchema(),
      ...scheduleShape(),
      at: z.union([z.number(), z.string()]).exactOptional(),
      every: z.number().positive().exactOptional(),
      cron: z.string().exactOptional(),
      timezone: z.string().exactOptional(),
    }),
  'agent.unschedule': () => onlyFields({ ...toAgent(), type: z.literal('agent.unschedule'), schedule: z.string() }),
  /** Fires a schedule immediately, without a change to its times. */
  'agent.fire': () => onlyFields({ ...toAgent(), type: z.literal('agent.fire'), schedule: z.string() }),
} as const
