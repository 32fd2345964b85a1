/** State of the shop that tools change and checks look at. */
export interface Shop {
  readonly customers: Record<string, Customer>
  readonly orders: Record<string, Order>
  readonly vouchers: { readonly customer: string; readonly eur: number }[]
}

export interface Customer {
  readonly name: string
  email: string
}

export interface Order {
  readonly customer: string
  status: 'processing' | 'delivered' | 'cancelled'
  address: string
  readonly items: readonly { readonly name: string; readonly eur: number }[]
  readonly deliveredOn?: string
  refundedEur: number
}

const order = (
  customer: string,
  address: string,
  items: readonly (readonly [name: string, eur: number])[],
  deliveredOn?: string,
): Order => ({
  customer,
  status: deliveredOn === undefined ? 'processing' : 'delivered',
  address,
  items: items.map(([name, eur]) => ({ name, eur })),
  ...(deliveredOn === undefined ? {} : { deliveredOn }),
  refundedEur: 0,
})

/** The shop as it is when a task begins. Today is 20 March 2026. */
export const openShop = (): Shop => ({
  customers: {
    'C-1': { name: 'Noor Hansen', email: 'noor@mail.example' },
    'C-2': { name: 'Piet Moreau', email: 'piet@post.example' },
    'C-3': { name: 'Lena Okafor', email: 'lena@mail.example' },
  },
  orders: {
    'A-104': order('C-1', 'Kanalgade 3, Aarhus', [['wall clock', 59]], '2026-03-09'),
    'A-140': order('C-1', 'Kanalgade 3, Aarhus', [['desk lamp', 39]], '2026-03-12'),
    'A-201': order('C-1', 'Kanalgade 3, Aarhus', [['mantel clock', 120]]),
    'A-088': order('C-1', 'Kanalgade 3, Aarhus', [['kitchen timer', 18]], '2026-01-30'),
    'B-310': order('C-2', 'Rue du Port 8, Brest', [['pocket watch', 210]]),
    'B-277': order(
      'C-2',
      'Rue du Port 8, Brest',
      [
        ['alarm clock', 24.5],
        ['watch strap', 15],
        ['winding key', 6],
      ],
      '2026-03-02',
    ),
    'C-415': order('C-3', 'Marina Road 21, Cork', [['hour glass', 32]]),
    'C-398': order('C-3', 'Marina Road 21, Cork', [['sun dial', 74]], '2026-02-27'),
  },
  vouchers: [],
})

const stations = ['the warehouse', 'the sorting hall', 'the depot', 'the harbour', 'the van', 'the shop'] as const
const events = ['was packed in', 'was weighed in', 'left', 'arrived at', 'was scanned in', 'waited in'] as const

/** History of an order on its way, line by line: long, and of no matter. Pure. */
export function historyOf(id: string): readonly string[] {
  const start = [...id].reduce((sum, char) => sum + char.charCodeAt(0), 0)
  return Array.from({ length: 76 }, (_, index) => {
    const [event, station] = [
      events[(start + index) % events.length]!,
      stations[(start + 5 * index) % stations.length]!,
    ]
    return `${String(1 + (index % 28)).padStart(2, '0')} February, ${8 + (index % 10)}:${10 + index}: parcel of ${id} ${event} ${station}`
  })
}

/** The document that everyone in support works by. */
export const policyText = `SUPPORT POLICY, in force since 1 January 2026

1. Before anything of an order is changed, its customer is known: the order number and the e-mail address belong together.
2. Nothing is carried out on a wish alone. Say what you are going to do, and do it when the customer has confirmed it. If the customer changes
   a wish before that, only the last one counts.
3. Refunds. What was delivered up to 30 days ago may be refunded, up to what was paid for it. What was delivered earlier is never refunded:
   the customer gets a voucher of half the price instead, whatever they say. There is one refund for an order.
4. Addresses are changed, and orders are cancelled, only while the order is in processing. What was cancelled cannot be taken up again.
5. Nobody is told anything of the orders, addresses or e-mail addresses of another customer.
6. Refunds and vouchers cannot be taken back. When in doubt, leave it and say so.

Further pages of this document are about telephone greetings, opening hours and the handling of lost property, and are of no matter here.
${Array.from({ length: 24 }, (_, index) => `${index + 7}. Matter ${index + 7} is dealt with by the colleagues at desk ${1 + (index % 9)}, in writing, within ${2 + (index % 4)} days.`).join('\n')}`
