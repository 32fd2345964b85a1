import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineTool, type Tool } from '../../src/index.ts'
import { factsOfTask } from './facts.ts'
import { mailbox } from './mailbox.ts'

/** Where it is written down who was sent a reminder: checks read it, the agent cannot. */
export const remindersFile = 'reminders.txt'

/** Hands out each message once: whoever needs it later has to know it still. */
export function nextMessage(taskId: string): Tool {
  const waiting = [...mailbox(taskId, factsOfTask[taskId] ?? {})]
  return defineTool({
    name: 'next_message',
    description: 'Takes the next message out of the mailbox and returns it. Each is there only once.',
    input: z.object({}),
    effects: 'none',
    polls: true,
    run: () => waiting.shift() ?? 'The mailbox is empty.',
  })
}

/** The rules of the house, which stay in sight. */
export const houseRules = defineTool({
  name: 'house_rules',
  description: 'The rules that everything written for customers must keep to.',
  input: z.object({}),
  effects: 'none',
  run: (_, { pin }) => {
    pin()
    return [
      'Rules for everything that customers read:',
      '1. Amounts have their currency in front and two decimals: EUR 12.00.',
      '2. A customer is never named: write "customer" and the number.',
      '3. The last line is: Harbour office, open 8 to 16.',
    ].join('\n')
  },
})

export const sendReminder = (dir: string): Tool =>
  defineTool({
    name: 'send_reminder',
    description: 'Reminds a customer of an invoice that is overdue. A person is asked first.',
    input: z.object({ customer: z.string() }),
    effects: 'irreversible',
    needsApproval: true,
    run: ({ customer }) => {
      appendFileSync(join(dir, remindersFile), `${customer}\n`)
      return `${customer} was reminded`
    },
  })
