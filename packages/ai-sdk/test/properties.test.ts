import { isToolUIPart, type UIMessage } from 'ai'
import type { Chat } from '@ai-sdk/react'
import * as fc from 'fast-check'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../../src/index.ts'
import { scriptedModel, type ScriptedReply } from '../../../src/testing.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { checkReload, serveChats, until, type ChatServing } from './chatHarness.ts'
import { asks, calling, echo, fails, plainReplies } from '../../bridge/test/anyReplies.ts'

const wonders = defineTool({
  name: 'wonders',
  description: 'Asks a question.',
  input: z.object({}),
  run: async (_, { ask }) => await ask(z.string(), 'Why?'),
})
const client = defineTool({ name: 'client', description: 'Of the client.', input: z.object({}) })

const usage = { input: 1, output: 1, cacheRead: 0, cacheWrite: 0 }
/** Reply whose streamed text differs from the final one. */
const corrected: ScriptedReply = {
  parts: [
    { type: 'text.delta', text: 'a first' },
    { type: 'thinking.delta', text: 'no' },
    {
      type: 'done',
      reply: { content: [{ type: 'text', text: 'another' }], stopReason: 'stop', usage },
    },
  ],
}

const reply = fc.oneof(
  ...plainReplies,
  fc.constant(corrected),
  calling(['echo', 'fails', 'asks', 'wonders', 'client', 'nothing']),
  calling(['worker', 'worker', 'asks']),
)

/** Behaviour of a person while an answer comes: after this many changes the page is loaded anew, or the run is stopped. */
const whims = fc.record({
  type: fc.constantFrom('stay' as const, 'stay' as const, 'reload' as const, 'reload' as const, 'stop' as const),
  after: fc.integer({ min: 1, max: 14 }),
})

type Whim = typeof whims extends fc.Arbitrary<infer W> ? W : never

const journey = fc.record({
  replies: fc.array(reply, { minLength: 3, maxLength: 8 }),
  worker: fc.array(reply, { minLength: 1, maxLength: 4 }),
  answers: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
  whims: fc.array(whims, { minLength: 12, maxLength: 12 }),
})

const seeds = (process.env['CHAT_SEEDS'] ?? '7 21').split(' ').map(Number)
const numRuns = Number(process.env['CHAT_RUNS'] ?? 25)

/** Follows what is being sent; gives the chat that shows the answer at the end. */
async function follow(
  serving: ChatServing,
  chat: Chat<UIMessage>,
  { sending, whim }: { readonly sending: Promise<unknown>; readonly whim: Whim },
): Promise<Chat<UIMessage>> {
  let changes = 0
  const isLate = until(chat, ({ status }) => {
    if (status === 'streaming') changes += 1
    return changes >= whim.after
  })
  const isOver = await Promise.race([sending.then(() => true), isLate.then(() => false)])
  if (isOver || whim.type === 'stay') {
    await sending
    return chat
  }
  if (whim.type === 'stop') {
    await fetch(`${serving.api}/${chat.id}/stream`, { method: 'DELETE' })
    await sending
    return chat
  }

  return await load(serving, chat)
}

/** Loads the page anew. */
async function load(serving: ChatServing, chat: Chat<UIMessage>): Promise<Chat<UIMessage>> {
  await chat.stop()
  const messages = await serving.messages(chat.id)
  const loaded = serving.chat({ id: chat.id, messages, sendAutomaticallyWhen: () => false })
  await loaded.resumeStream()
  return loaded
}

/** Answers what the last message asks, and sends the answers; `undefined`: it asks nothing. */
async function decide(chat: Chat<UIMessage>, yes: () => boolean): Promise<{ sending: Promise<unknown> } | undefined> {
  const answers: Record<string, object | string> = {}
  let isAsked = false
  for (const part of chat.messages.at(-1)?.parts ?? []) {
    if (part.type === 'data-question') {
      const { id, data } = part as { id: string; data: { status: string } }
      if (data.status !== 'waiting') continue
      answers[id] = yes() ? { value: 'because' } : 'deny'
      isAsked = true
    } else if (isToolUIPart(part) && part.type === 'dynamic-tool') {
      if (part.state === 'approval-requested')
        await chat.addToolApprovalResponse({ id: part.approval.id, approved: yes(), reason: 'so' })
      else if (part.state === 'input-available' && part.toolName === 'client')
        await chat.addToolOutput({ tool: 'client', toolCallId: part.toolCallId, output: { place: 'here' } })
      else continue
      isAsked = true
    }
  }
  return isAsked ? { sending: chat.sendMessage(undefined, { body: { answers } }) } : undefined
}

describe('chats of useChat', (it) => {
  for (const seed of seeds) {
    const title = `show what the log holds, whatever agent and person do (seed ${seed})`
    it(title, { timeoutMs: 20_000 + numRuns * 400 }, async (context) => {
      let number = 0
      await fc.assert(
        fc.asyncProperty(journey, async ({ replies, worker, answers, ...journeyed }) => {
          number += 1
          const cleanups: (() => unknown)[] = []
          const tools = [echo, fails, asks, wonders, client]
          const below = defineAgent({ name: 'worker', description: 'Works.', tools, model: scriptedModel(worker) })
          const boss = defineAgent({
            name: 'boss',
            tools,
            agents: [below],
            model: scriptedModel(replies),
            braking: { revert: true },
            limits: { turns: 12 },
          })
          const serving = await serveChats({ cleanup: (close) => void cleanups.push(close) }, [boss])
          context.cleanup(async () => {
            for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
          })
          let chat = serving.chat({ id: `chat-${number}`, sendAutomaticallyWhen: () => false })
          const step = { answer: 0, whim: 0 }
          const yes = (): boolean => answers[step.answer++ % answers.length]!
          const next = () => journeyed.whims[step.whim++ % journeyed.whims.length]!
          for (const text of ['first', 'second']) {
            chat = await follow(serving, chat, { sending: chat.sendMessage({ text }), whim: next() })
            for (let round = 0; round < 12; round += 1) {
              const asking = await decide(chat, yes)
              if (asking === undefined) break
              chat = await follow(serving, chat, { ...asking, whim: next() })
              // It was stopped while it waited, which nobody tells a client that listens no more.
              if (chat.error?.message.includes('waits any more') === true) chat = await load(serving, chat)
            }
          }
          await checkReload(serving, chat)
          for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
        }),
        { seed, numRuns },
      )
      assert.ok(number > 0)
    })
  }
})
