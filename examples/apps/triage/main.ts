// node examples/apps/triage/main.ts — without a key: the models are functions.
import { policyModel, type Model } from '../../../src/index.ts'
import { triage, type Shop } from './triage.ts'

const busy: Model = {
  id: 'embedded:busy',
  async *stream() {
    yield { type: 'error', error: { kind: 'network', message: 'the provider is away' } }
  },
}

const embedded = policyModel(({ tools, messages }) => {
  const isBilling = tools.some(({ name }) => name === 'pay_back')
  const results = messages.filter(({ role }) => role === 'toolResult').length
  if (isBilling) {
    if (results === 0) return { toolCalls: [{ name: 'find_order', input: { order: 'o7' } }] }
    if (results === 1) return { toolCalls: [{ name: 'pay_back', input: { order: 'o7', euros: 30 } }] }
    return 'Paid back.'
  }
  if (results === 0) return { toolCalls: [{ name: 'billing', input: { task: 'Pay order o7 back.' } }] }
  return '{"category":"billing","urgent":true,"reply":"Your 30 euros are on their way."}'
})

const shop: Shop = { prices: new Map([['o7', 30]]), refunds: [] }
const sorted = await triage('My clock came broken. I want my money back!', shop, [busy, embedded], async (refund) => {
  console.log(`approved: ${JSON.stringify(refund)}`)
  return true
})
console.log(sorted.category, sorted.urgent, sorted.reply)
console.log('refunds:', JSON.stringify(shop.refunds))
