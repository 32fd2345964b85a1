import { z } from 'zod'
import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { defineAgent } from '../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../models/src/policyModel.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { noUsage, textOf } from '../../../../src/protocol/messages.ts'
import { cutMiddle } from '../../../../src/protocol/text/cutMiddle.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { Found } from '../checks/found.ts'
import type { LiveScore } from './liveTypes.ts'

/** Maximum number of runs of an agent that holds a score. Then its judge is taken to reach no verdict. */
const mostTries = 3
/** Maximum length of a reason. */
const mostReason = 2_000

const answerSchema = lazily(() =>
  z.looseObject({ score: z.number().min(0).max(1), passed: z.boolean().optional(), reason: z.string().optional() }),
)

/** Defines an agent that replies with a function's finding, so that its log holds the score as a judge's does. */
export function findingAgent({ value, passed, reason }: Found): AgentDefinition {
  const said = reason === undefined ? {} : { reason: cutMiddle(reason.toWellFormed(), mostReason) }
  const text = JSON.stringify({ score: value, passed, ...said })
  const model = policyModel(() => ({ text, usage: noUsage }), { id: 'embedded:scorer' })
  return defineAgent({ name: 'scorer', description: 'Holds the score of a run.', model }) as AgentDefinition
}

/** A score from the log of the agent that holds it. `open`: there is none yet; `given up`: too many attempts failed. */
export type Held = Omit<LiveScore, 'runId' | 'agentId' | 'definition' | 'scorer'> | 'open' | 'given up'

/** Reads the score that an agent holds; `undefined` if there is no such agent. `min`: lowest passing value of a judge. Rejects as the store does. */
export async function heldScore(store: Store, scoredBy: string, min: number): Promise<Held | undefined> {
  const records: LogRecord[] = []
  for await (const record of store.read(scoredBy)) records.push(record)
  if (records.length === 0) return undefined
  let costUsd = 0
  let tries = 0
  for (const record of records) {
    if (record.type !== 'run.end') continue
    tries += 1
    costUsd += record.costUsd
    if (record.stopReason !== 'stop') continue
    const reply = records.findLast(({ type }) => type === 'reply.end')
    const read = answerSchema().safeParse(
      reply?.type === 'reply.end' ? jsonIn(textOf(reply.message.content)) : undefined,
    )
    if (!read.success) continue
    const { score: value, passed = value >= min, reason } = read.data
    return { value, passed, scoredBy, costUsd, time: record.time, ...(reason === undefined ? {} : { reason }) }
  }
  return tries >= mostTries ? 'given up' : 'open'
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}
