import type { Order } from '../../model/sessions/overview.ts'

export interface HomeHeadProps {
  readonly order: Order
  readonly onOrder: (order: Order) => void
}

const columns: readonly (readonly [order: Order, name: string, words: string])[] = [
  ['need', 'Agent', 'in groups, those that need you first'],
  ['since', 'Since', 'the longest time first'],
  ['context', 'Context', 'the fullest context first'],
  ['cost', 'Cost', 'the most expensive first'],
]

/** Heads of the columns. A click orders the agents by a column, and another one brings the groups back. */
export const HomeHead = ({ order, onOrder }: HomeHeadProps) => (
  <div class="home-head" role="group" aria-label="Order">
    {columns.map(([by, name, words]) => (
      <button
        key={by}
        type="button"
        class={`link home-by is-${by}`}
        aria-pressed={order === by}
        title={words}
        onClick={() => onOrder(order === by ? 'need' : by)}
      >
        {name}
        {order === by && by !== 'need' ? ' ▾' : ''}
      </button>
    ))}
  </div>
)
