import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { optionsCheck } from '../../../../src/protocol/checks/optionsCheck.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { listSchedules } from '../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import { scheduleIdSchema } from '../../../../src/protocol/parts/schedules/scheduleRecords.ts'
import { catchUpSchema } from '../../../../src/protocol/parts/schedules/scheduleTimes.ts'
import { timesWords, timeWords } from '../../../../src/protocol/parts/schedules/timesWords.ts'
import type { PartDraft } from '../../../../src/machines/partStates.ts'
import type { AgentPorts } from '../../../../src/actors/agentPorts.ts'
import { BoundCall } from '../../../../src/actors/tools/boundCall.ts'
import { defineTool, type Tool } from '../../../../src/actors/tools/defineTool.ts'
import { asOwn } from '../../../../src/actors/tools/ownTools.ts'
import { findSchedule, schedulesIn, setSchedule } from '../../../../src/actors/parts/schedules/applySchedules.ts'
import { furthestMs } from '../../../../src/actors/parts/schedules/scheduling.ts'

export interface ScheduleToolsOptions {
  /** Minimum interval between two times of a schedule, in milliseconds: at least 60,000, which is the default. */
  readonly minEveryMs?: number
  /** Maximum number of schedules that the model may have. Default: 20. */
  readonly max?: number
  /** True if people are asked before a schedule is made. Default: `true`. */
  readonly needsApproval?: boolean
}

/** Minimum interval between two times that a model may ask for, in milliseconds. */
const leastMs = 60_000
/** Maximum length of a prompt that a model may give, in UTF-16 units. */
const mostPromptChars = 4_000

const check = optionsCheck(
  {},
  {
    minEveryMs: () => z.int().min(leastMs).max(furthestMs),
    max: () => z.int().min(1).max(100),
    needsApproval: () => z.boolean(),
  },
)

/**
 * Returns the tools `schedule`, `unschedule` and `list_schedules`, with which a model makes itself prompts at certain times. People are asked
 * before one is made. A revert to a point before the schedule was made removes it. The model sees all schedules, but changes only its own.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * const assistant = defineAgent({ name: 'assistant', model, tools: [sleepTool(), ...scheduleTools({ max: 5 })] })
 * ```
 */
export function scheduleTools(options: ScheduleToolsOptions = {}): readonly Tool[] {
  const wrong = check(options)
  if (wrong !== undefined) throw new RuntimeError('INVALID_OPTION', `scheduleTools: ${wrong}.`)
  const { minEveryMs: least = leastMs, max = 20, needsApproval = true } = options
  const id = scheduleIdSchema()
  const schedule = defineTool({
    name: 'schedule',
    description:
      'Make yourself a prompt at a later time, or again and again. Give one of "at" (a time with its offset, such as 2027-03-01T09:00:00+01:00), ' +
      '"every" (seconds), and "cron" (minute, hour, day, month, day of the week; with a "timezone" such as Europe/Berlin, else in UTC). ' +
      'The prompt must say everything that is needed then. Another one with the same "id" takes its place.',
    effects: 'idempotent',
    needsApproval,
    input: onlyFields({
      id,
      prompt: z.string().trim().min(1).max(mostPromptChars),
      at: z.string().max(60).optional(),
      every: z.number().positive().optional(),
      cron: z.string().max(200).optional(),
      timezone: z.string().max(60).optional(),
      missed: catchUpSchema()
        .optional()
        .describe('Times that passed while nobody was there: one prompt for all (once, the default), none, or each.'),
    }),
    run: ({ every, missed, ...asked }) =>
      new BoundCall(async (ports: AgentPorts) => {
        refuseForeign(ports, asked.id)
        const own = Object.entries(schedulesIn(ports.parts)).filter(
          ([other, { by }]) => by === 'model' && other !== asked.id,
        )
        if (own.length >= max) throw new Error(`You have ${own.length} schedules, the most allowed. Remove one first.`)
        const whole = { ...asked, every: every === undefined ? undefined : Math.round(every * 1_000), catchUp: missed }
        const at = ports.clock.now()
        const maker = { at, least, by: 'model', nodeId: ports.conversation.lastNodeId } as const
        await record(ports, setSchedule(ports.parts, whole, maker))
        const { times, due } = findSchedule(ports.parts, asked.id)
        return `Set: ${asked.id}, ${timesWords(times)}, first ${timeWords(due)}. It is ${timeWords(at)} now.`
      }),
  })
  const unschedule = defineTool({
    name: 'unschedule',
    description: 'Remove a schedule that you have made.',
    effects: 'idempotent',
    input: onlyFields({ id }),
    run: ({ id: wanted }) =>
      new BoundCall(async (ports: AgentPorts) => {
        refuseForeign(ports, wanted)
        findSchedule(ports.parts, wanted)
        await record(ports, [{ type: 'schedule.removed', id: wanted, why: 'asked' }])
        return `Removed: ${wanted}.`
      }),
  })
  const list = defineTool({
    name: 'list_schedules',
    description: 'List all schedules, and what time it is.',
    effects: 'none',
    input: onlyFields({}),
    run: () => new BoundCall((ports: AgentPorts) => listed(ports)),
  })
  return [asOwn(schedule), asOwn(unschedule), asOwn(list)]
}

function listed(ports: AgentPorts): string {
  const lines = listSchedules(schedulesIn(ports.parts)).map(
    ({ id, times, due, by, prompt }) =>
      `- ${id}, ${timesWords(times)}, next ${timeWords(due)}${by === 'model' ? '' : ', not yours'}: ${prompt.slice(0, 200)}`,
  )
  const now = `It is ${timeWords(ports.clock.now())} now.`
  return [lines.length === 0 ? 'There are no schedules.' : lines.join('\n'), now].join('\n')
}

/** Throws if people or code made the schedule. */
function refuseForeign({ parts }: AgentPorts, id: string): void {
  const known = schedulesIn(parts)
  if (Object.hasOwn(known, id) && known[id]!.by !== 'model')
    throw new Error(`The schedule "${id}" is not yours to change.`)
}

/** Appends records; resolves once they are in the store. */
async function record(ports: AgentPorts, records: readonly PartDraft[]): Promise<void> {
  if (records.length > 0) ports.record(records)
  await ports.durable()
}
