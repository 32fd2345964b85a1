import { textOf } from '../../protocol/messages.ts'
import type { QueueName } from '../../protocol/records.ts'
import type { FollowedAgent } from '../model/followedAgent.ts'
import { formatCount } from '../model/numbers.ts'
import { oneLine } from '../model/shortText.ts'

const inOrder: readonly (readonly [queue: QueueName, when: string])[] = [
  ['steering', 'Said before the next reply'],
  ['followUps', 'Said when the agent would be done'],
  ['prompts', 'A run of its own after this one'],
]

/** As many are shown; the others are counted. */
const mostShown = 3
const longest = 200

/** What people have said that the agent has not read yet, in the order in which it will. */
export function WaitingWords({ view }: { readonly view: FollowedAgent }) {
  const { queues } = view.state.value
  const waiting = inOrder.flatMap(([queue, when]) => queues[queue].map((message) => ({ when, message })))
  if (waiting.length === 0) return null
  return (
    <ul class="waiting-words small" aria-label="Not read yet">
      {waiting.slice(0, mostShown).map(({ when, message: { id, content } }) => (
        <li key={id}>
          <span class="faint">{when}: </span>
          <bdi class="cut">{oneLine(textOf(content), longest)}</bdi>
        </li>
      ))}
      {waiting.length > mostShown ? <li class="faint">and {formatCount(waiting.length - mostShown)} more</li> : null}
    </ul>
  )
}
