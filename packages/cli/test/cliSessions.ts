import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent } from '../../define/src/defineAgent.ts'
import type { AgentOptions } from '../../../src/actors/define/defineAgent.ts'
import { scriptedModel, type ScriptedReply } from '../../evaluation/src/testing/scriptedModel.ts'
import { defineTool } from '../../../src/actors/tools/defineTool.ts'
import type { Clock } from '../../../src/protocol/ports/clock.ts'
import type { ModelRequest } from '../../../src/protocol/ports/model.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { createRuntime } from '../../bridge/src/createRuntime.ts'
import { fileStore } from '../../stores/src/fileStore.ts'
import { z } from 'zod'

export interface RecordedOptions extends Partial<Omit<AgentOptions, 'model'>> {
  readonly id: string
  readonly prompts: readonly string[]
  readonly replies: readonly ScriptedReply[]
  readonly modelId?: string
  readonly clock?: Clock
}

/** Result of the tool `look`, which is told what to give back. */
const look = defineTool({
  name: 'look',
  description: 'Looks.',
  input: z.object({ seen: z.string() }),
  run: ({ seen }) => seen,
})

/** Records a session of a scripted model in `<dir>/.escapement`; gives the requests that the model got. */
export async function recordSession(
  dir: string,
  { id, prompts, replies, modelId, clock, ...rest }: RecordedOptions,
): Promise<readonly ModelRequest[]> {
  const model = scriptedModel(replies, modelId === undefined ? {} : { id: modelId })
  const store = fileStore(join(dir, '.escapement'))
  const runtime = await createRuntime({ store, ...(clock === undefined ? {} : { clock }) })
  try {
    const definition = defineAgent({ name: 'tester', tools: [look], captureTurnRequests: true, ...rest, model })
    const agent = await runtime.spawn(definition, { id })
    for (const prompt of prompts) await agent.prompt(prompt).result
  } finally {
    await runtime.close()
  }
  return model.requests
}

/** The file of a log. */
export const logFile = (dir: string, id: string): string => join(dir, '.escapement', `${id}.jsonl`)

/** The records of a log, checksums left out. */
export const recordsIn = (file: string): LogRecord[] =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => {
      const { crc: _, ...record } = JSON.parse(line) as LogRecord & { crc?: string }
      return record
    })
