import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defineAgent } from '../../src/index.ts'
import { defineSuite } from '../../src/testing.ts'
import { keeperModel, windowTokens } from './keeperModel.ts'
import { houseRules, nextMessage, remindersFile, sendReminder } from './tools.ts'

const unwanted = 'Harbourside'

// oxlint-disable-next-line import/no-default-export -- Suites are read so.
export default defineSuite({
  agent: ({ dir, model, task }) =>
    defineAgent({
      name: 'harbourOffice',
      model,
      instructions:
        'You work in the office of a harbour, with tools. Do what you are asked, and nothing else. Make no text where none is needed.',
      tools: [
        nextMessage(task),
        ...(task === 'pinned-rule' ? [houseRules] : []),
        ...(task === 'denied-call' ? [sendReminder(dir)] : []),
      ],
      // Small on purpose: a mailbox fills it.
      compaction: { contextWindow: windowTokens },
    }),
  // Folds as an agent with a window of that size would.
  arms: { fold: { braking: { fold: { cap: 0.6 * windowTokens } } } },
  models: { embedded: ({ task, seed }) => keeperModel(task, seed) },
  decide: ({ input }) =>
    (input as { customer?: unknown }).customer === unwanted
      ? { deny: 'They have paid in cash. Do not remind them, and do not ask me about them again.' }
      : 'approve',
  scorers: {
    reminders: ({ dir, records }) => {
      const file = join(dir, remindersFile)
      const sent = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : []
      const asked = [...records.values()]
        .flat()
        .filter(
          (record) =>
            record.type === 'approval.requested' &&
            record.name === 'send_reminder' &&
            (record.input as { customer?: unknown }).customer === unwanted,
        ).length
      const wrong = [
        ...(sent.toSorted().join() === 'Quayline,Saltworks' ? [] : [`reminded were: ${sent.join(', ') || 'nobody'}`]),
        ...(asked === 1 ? [] : [`${unwanted} was asked about ${asked} times`]),
      ]
      return { value: wrong.length === 0 ? 1 : 0, passed: wrong.length === 0, reason: wrong.join('; ') }
    },
  },
})
