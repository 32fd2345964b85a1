import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type ContractEnd,
  type ContractReply,
  modelContract,
} from '../../packages/evaluation/src/testing/modelContract.ts'
import { policyModel } from '../../packages/models/src/policyModel.ts'
import { recordModel } from '../../packages/evaluation/src/testing/recordModel.ts'
import { replayModel } from '../../packages/evaluation/src/testing/replayModel.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import type { Model, ModelPart } from '../../src/protocol/ports/model.ts'
import { assert, describe } from '../support/suite.ts'
import { useWire, wireFamilies } from '../support/wireServer/useWire.ts'
import type { WireFamily, WireReply } from '../support/wireServer/wireFamily.ts'

const ends: readonly ContractEnd[] = ['cut', 'refused', 'windowFull', 'paused', 'broken', 'sameIds', 'noIds']

const halves = (text: string): string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

const toWire = (
  family: WireFamily,
  { thinking, text, toolCalls = [], stopReason = toolCalls.length > 0 ? 'toolUse' : 'stop', endReason }: ContractReply,
): WireReply => ({
  blocks: [
    ...(thinking === undefined ? [] : [{ thinking: halves(thinking) }]),
    ...(text === undefined ? [] : [{ text: halves(text) }]),
    ...toolCalls.map(({ name, input, callId }, index) => ({
      call: callId ?? `call_${index}`,
      name,
      input: halves(JSON.stringify(input)),
    })),
  ],
  stop: endReason ?? family.stops[stopReason as keyof typeof family.stops],
})

for (const family of wireFamilies) {
  describe(`model contract of the AI SDK adapter over ${family.name}`, (it) => {
    const titles = modelContract({ create: () => assert.unreachable(), ends }).map(({ name }) => name)
    for (const [index, title] of titles.entries()) {
      it(title, async (test) => {
        const create = async (replies: readonly ContractReply[]) =>
          (
            await useWire(
              test,
              family,
              replies.map((reply) => toWire(family, reply)),
            )
          ).model
        await modelContract({ create, ends })[index]?.run()
      })
    }
  })
}

/** Plays the replies in order, whatever the turn. */
const policy = (replies: readonly ContractReply[]): Model => {
  const left = [...replies]
  return policyModel(() => left.shift() ?? '')
}

for (const [name, create] of Object.entries({ policyModel: policy, scriptedModel })) {
  describe(`model contract of ${name}`, (it) => {
    for (const { name: title, run } of modelContract({ create, ends })) it(title, run)
  })
}

describe('model contract of recordModel, and of replayModel over that recording', (it) => {
  const titles = modelContract({ create: policy, ends }).map(({ name }) => name)
  for (const [index, title] of titles.entries()) {
    it(title, async ({ cleanup }) => {
      const dir = await mkdtemp(join(tmpdir(), 'escapement-recording-'))
      cleanup(() => rm(dir, { recursive: true, force: true }))
      const file = join(dir, 'recording.jsonl')
      let flush = async (): Promise<void> => assert.unreachable()
      const record = (replies: readonly ContractReply[]): Model => {
        const recording = recordModel(policy(replies), file)
        flush = recording.flush
        return recording
      }
      await modelContract({ create: record, ends })[index]?.run()
      await flush()
      const replay = await replayModel(file)
      await modelContract({ create: () => replay, ends })[index]?.run()
      replay.assertComplete()
    })
  }
})

describe('model contract', (it) => {
  const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
  const done = (text: string): ModelPart => ({
    type: 'done',
    reply: { content: [{ type: 'text', text }], stopReason: 'stop', usage },
  })
  const liars: [string, readonly ModelPart[]][] = [
    ['says something else in its deltas', [{ type: 'text.delta', text: 'no' }, done('yes')]],
    ['goes on after its end', [done('yes'), done('yes')]],
    ['never ends', [{ type: 'text.delta', text: 'yes' }]],
  ]
  for (const [what, parts] of liars) {
    it(`is broken by a model that ${what}`, async () => {
      const create = (): Model => ({
        id: 'test:liar',
        async *stream() {
          yield* parts
        },
      })
      const outcomes = await Promise.allSettled(modelContract({ create, ends }).map(({ run }) => run()))
      const broken = outcomes.filter((outcome) => outcome.status === 'rejected')
      assert.ok(broken.length > 0)
      for (const { reason } of broken) assert.match(reason.message, /contract|not "done"/)
    })
  }
})
