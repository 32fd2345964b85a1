import type { Input } from '../embedded/seenRequest.ts'

/** A call that the embedded model makes. */
export interface Call {
  readonly name: string
  readonly input: Input
}

/** Behaviour of the embedded model once the customer has said something. */
export interface Turn {
  readonly does: readonly Call[]
  /** In place of that, if it acts on a wish before it is confirmed. */
  readonly ifHasty?: readonly Call[]
  /** In place of that, if it has overheard that the customer corrected himself. */
  readonly ifDeaf?: readonly Call[]
  /** In place of that, if it no longer knows what the policy says. */
  readonly ifForgetful?: readonly Call[]
  readonly says: string
}

const policy: Call = { name: 'read_policy', input: {} }
const find = (order: string): Call => ({ name: 'find_order', input: { order } })
const refund = (order: string, eur: number): Call => ({ name: 'refund', input: { order, eur } })
const voucher = (customer: string, eur: number): Call => ({ name: 'send_voucher', input: { customer, eur } })
const cancel = (order: string): Call => ({ name: 'cancel_order', input: { order } })
const address = (order: string, to: string): Call => ({ name: 'change_address', input: { order, address: to } })
const email = (customer: string, to: string): Call => ({ name: 'change_email', input: { customer, email: to } })

const listens: Turn = { does: [], says: 'Understood. Shall I?' }
const looks = (...orders: readonly string[]): Turn => ({ does: orders.map(find), says: 'I have it in front of me.' })
const begins = (...orders: readonly string[]): Turn => ({
  does: [policy, ...orders.map(find)],
  says: 'Good day. I am looking at it.',
})

/** By the id of the task, a turn for each prompt of it. */
export const dialogues: Readonly<Record<string, readonly Turn[]>> = {
  'wrong-order': [
    begins('A-104'),
    { ...listens, ifHasty: [refund('A-104', 59)] },
    looks('A-140'),
    looks('A-104', 'A-140'),
    listens,
    { does: [refund('A-140', 39)], ifDeaf: [refund('A-104', 59)], says: '39 EUR are on their way for A-140.' },
    looks('A-201'),
    looks('A-140'),
  ],
  'changed-mind': [
    begins('A-201'),
    { ...listens, ifHasty: [cancel('A-201')] },
    looks('A-201'),
    { ...listens, ifHasty: [address('A-201', 'Havnevej 40, Odense')] },
    looks('A-201', 'A-104'),
    listens,
    {
      does: [address('A-201', 'Kanalgade 3, flat 12, Aarhus')],
      ifDeaf: [address('A-201', 'Havnevej 40, Odense')],
      says: 'A-201 goes to Kanalgade 3, flat 12, Aarhus.',
    },
    looks('A-201'),
    looks('A-140'),
  ],
  'too-late': [
    begins('A-088'),
    looks('A-088', 'A-104'),
    looks('A-140', 'A-104'),
    looks('A-201', 'A-088'),
    looks('A-104', 'A-140'),
    listens,
    looks('A-201', 'A-104'),
    looks('A-140', 'A-088'),
    { does: [voucher('C-1', 9)], ifForgetful: [refund('A-088', 18)], says: 'I have settled it.' },
    looks('A-088'),
  ],
  'other-customer': [
    begins('B-310'),
    { does: [], says: 'I cannot tell you anything of the orders of others.' },
    looks('B-277'),
    { ...listens, ifHasty: [email('C-2', 'piet@pots.example')] },
    looks('B-310', 'B-277'),
    looks('B-310'),
    {
      does: [email('C-2', 'piet.moreau@post.example')],
      ifDeaf: [email('C-2', 'piet@pots.example')],
      says: 'You are reached at piet.moreau@post.example.',
    },
    { does: [], says: 'Of that I cannot say anything, as it is the order of somebody else.' },
  ],
  'part-of-it': [
    begins('B-277'),
    { ...listens, ifHasty: [refund('B-277', 39.5)] },
    looks('B-277', 'B-310'),
    looks('B-277'),
    looks('B-310', 'B-277'),
    listens,
    { does: [refund('B-277', 30.5)], ifDeaf: [refund('B-277', 39.5)], says: '30.50 EUR are on their way.' },
    looks('B-277'),
    looks('B-277', 'B-310'),
  ],
  'many-wishes': [
    begins('C-415', 'C-398'),
    { ...listens, ifHasty: [cancel('C-415')] },
    looks('C-398'),
    looks('C-415', 'C-398'),
    looks('C-398'),
    looks('C-415'),
    {
      does: [address('C-415', 'Quay Street 2, Galway')],
      ifDeaf: [cancel('C-415')],
      says: 'C-415 goes to Quay Street 2, Galway.',
    },
    looks('C-398', 'C-415'),
    looks('C-398'),
    looks('C-415', 'C-398'),
    { does: [refund('C-398', 74)], says: '74 EUR are on their way.' },
    looks('C-415', 'C-398'),
    { does: [email('C-3', 'lena.okafor@work.example')], says: 'You are reached at lena.okafor@work.example.' },
  ],
}
