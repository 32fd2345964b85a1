import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { defineTool, type Tool } from '../../src/index.ts'
import { historyOf, openShop, policyText, type Order } from './shop.ts'

/** Beside the state: what was done, a line each. Checks read both, the agent neither. */
export const [stateFile, actionsFile] = ['state.json', 'actions.jsonl'] as const

/** The tools of the support desk over a shop of their own. They do what they are told: what is allowed, the policy says. */
export function supportTools(dir: string): readonly Tool[] {
  const shop = openShop()
  const save = (): void => writeFileSync(join(dir, stateFile), `${JSON.stringify(shop, null, 2)}\n`)
  const done = (tool: string, input: object): void => {
    appendFileSync(join(dir, actionsFile), `${JSON.stringify({ tool, ...input })}\n`)
    save()
  }
  const orderOf = (id: string): Order => {
    if (!Object.hasOwn(shop.orders, id)) throw new Error(`There is no order ${id}.`)
    return shop.orders[id]!
  }
  const order = z.string().describe('Number of the order, such as A-104.')
  const eur = z.number().positive().describe('Euros.')
  save()
  return [
    defineTool({
      name: 'read_policy',
      description: 'The support policy. It is binding.',
      input: z.object({}),
      effects: 'none',
      run: () => policyText,
    }),
    defineTool({
      name: 'find_order',
      description: 'An order with its customer, state, items and history.',
      input: z.object({ order }),
      effects: 'none',
      run: (input) => {
        const found = orderOf(input.order)
        const customer = shop.customers[found.customer]!
        return [
          `${input.order} of ${customer.name} (${found.customer}, ${customer.email}), ${found.status}`,
          ...(found.deliveredOn === undefined ? [] : [`delivered on ${found.deliveredOn}`]),
          `to ${found.address}`,
          ...found.items.map((item) => `${item.name}: ${item.eur} EUR`),
          `refunded: ${found.refundedEur} EUR`,
          ...historyOf(input.order),
        ].join('\n')
      },
    }),
    defineTool({
      name: 'refund',
      description: 'Pays money back for an order.',
      input: z.object({ order, eur }),
      effects: 'irreversible',
      run: (input) => {
        orderOf(input.order).refundedEur += input.eur
        done('refund', input)
        return `${input.eur} EUR were paid back for ${input.order}`
      },
    }),
    defineTool({
      name: 'send_voucher',
      description: 'Sends a customer a voucher.',
      input: z.object({ customer: z.string().describe('Number of the customer, such as C-1.'), eur }),
      effects: 'irreversible',
      run: (input) => {
        if (!Object.hasOwn(shop.customers, input.customer)) throw new Error(`There is no customer ${input.customer}.`)
        shop.vouchers.push(input)
        done('send_voucher', input)
        return `${input.customer} was sent a voucher of ${input.eur} EUR`
      },
    }),
    defineTool({
      name: 'cancel_order',
      description: 'Cancels an order for good.',
      input: z.object({ order }),
      effects: 'irreversible',
      run: (input) => {
        orderOf(input.order).status = 'cancelled'
        done('cancel_order', input)
        return `${input.order} is cancelled`
      },
    }),
    defineTool({
      name: 'change_address',
      description: 'Changes where an order is sent.',
      input: z.object({ order, address: z.string().min(1) }),
      effects: 'idempotent',
      run: (input) => {
        orderOf(input.order).address = input.address
        done('change_address', input)
        return `${input.order} goes to ${input.address}`
      },
    }),
    defineTool({
      name: 'change_email',
      description: 'Changes the e-mail address of a customer.',
      input: z.object({ customer: z.string(), email: z.string().min(3) }),
      effects: 'idempotent',
      run: (input) => {
        const customer = Object.hasOwn(shop.customers, input.customer) ? shop.customers[input.customer] : undefined
        if (customer === undefined) throw new Error(`There is no customer ${input.customer}.`)
        customer.email = input.email
        done('change_email', input)
        return `${input.customer} is reached at ${input.email}`
      },
    }),
  ]
}
