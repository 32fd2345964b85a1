import { useMemo } from 'preact/hooks'
import { tookWords } from '../../../../../charts/src/amounts.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { ToolCallBlock } from '../../../../../../src/protocol/messages.ts'
import { textOf } from '../../../../../../src/protocol/text/messageText.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { CallBooks, type CallBook, type KnownCall } from '../../model/calls/callBook.ts'
import { exactTime, isoTime } from '../../model/words/dayTime.ts'
import type { FollowedAgent } from '../../model/agent/followedAgent.ts'
import { forDisplay } from '../../model/words/shortText.ts'
import { CallInput } from '../calls/callInput.tsx'
import { CallOutput } from './callOutput.tsx'
import { AgentLink } from '../conversation/conversationCall.tsx'
import { Media } from '../conversation/conversationMedia.tsx'
import { LongText } from '../../parts/longText.tsx'

/** Returns the calls of an agent at the moment that is shown. */
export function useCalls(view: FollowedAgent): CallBook {
  const books = useMemo(() => new CallBooks(), [view])
  const { records, at, lastSeq, past } = view.state.value
  return books.at(records, at ?? lastSeq, past)
}

const standings: Readonly<Record<KnownCall['status'], string>> = {
  pending: 'not started',
  held: 'waiting for an answer',
  running: 'runs',
  denied: 'denied',
  ended: 'ended',
}

interface CallFactsProps {
  readonly call: KnownCall
  readonly onNode: (node: NodeId) => void
  /** True beside the call's result: names the tool and links to the reply. Otherwise links to the result. */
  readonly isOfResult?: boolean
}

/** A call: its time, its duration with the time that it waited, and its input. */
export function CallFacts({ call, onNode, isOfResult = false }: CallFactsProps) {
  const { name, reply, status, askedAt, startedAt, took, result, input, ranWith, doings } = call
  const other = isOfResult ? reply : result?.node
  return (
    <>
      <dl class="pairs">
        {isOfResult ? (
          <>
            <dt>Tool</dt>
            <dd class="mono">{forDisplay(name)}</dd>
          </>
        ) : null}
        {other === undefined ? null : (
          <>
            <dt>{isOfResult ? 'Requested by' : 'Result'}</dt>
            <dd>
              <button type="button" class="link mono" onClick={() => onNode(other)}>
                {formatNodeId(other)}
              </button>
            </dd>
          </>
        )}
        <dt>{startedAt === undefined ? 'Requested' : 'Started'}</dt>
        <dd>
          <time dateTime={isoTime(startedAt ?? askedAt)}>{exactTime(startedAt ?? askedAt)}</time>
        </dd>
        <dt>{took === undefined ? 'State' : 'Took'}</dt>
        <dd class="number">{took === undefined ? standings[status] : tookWords(took)}</dd>
      </dl>
      <section class="call-part" aria-label="Input">
        <h3>Input{ranWith === undefined ? '' : '(edited)'}</h3>
        <CallInput name={name} input={ranWith === undefined ? input : ranWith.input} />
        {ranWith === undefined ? null : (
          <details class="muted small">
            <summary>Original input</summary>
            <CallInput name={name} input={input} />
          </details>
        )}
      </section>
      {doings === undefined ? null : (
        <section class="call-part" aria-label="What it called">
          <h3>What it called</h3>
          <ol class="mono small">
            {doings.map(({ seq, time, text, childId }) => (
              <li key={seq}>
                <time class="faint" dateTime={isoTime(time)}>
                  {exactTime(time)}
                </time>{' '}
                {forDisplay(text)}
                {childId === undefined ? null : (
                  <>
                    {' '}
                    <AgentLink agentId={childId} />
                  </>
                )}
              </li>
            ))}
          </ol>
        </section>
      )}
    </>
  )
}

interface CallPartProps {
  readonly block: ToolCallBlock
  /** The call as a log tells it; `undefined` if no log does. */
  readonly call: KnownCall | undefined
  readonly onNode: (node: NodeId) => void
}

/** A call among the blocks of a reply: its input, and its output once there is one. */
export function CallPart({ block, call, onNode }: CallPartProps) {
  const result = call?.result
  return (
    <section class="call-whole" aria-label={`Call of ${forDisplay(block.name)}`}>
      <p class="mono">
        <strong>{forDisplay(block.name)}</strong> <span class="faint">{forDisplay(block.callId)}</span>
      </p>
      {call === undefined ? (
        <CallInput name={block.name} input={block.input} />
      ) : (
        <CallFacts call={call} onNode={onNode} />
      )}
      {result === undefined ? null : (
        <CallOutput message={result.message} data={result.data} input={call?.ranWith?.input ?? block.input}>
          <LongText text={textOf(result.message.content)} kind="code" lines={16} chars={2_000} />
          <Media content={result.message.content} />
        </CallOutput>
      )}
    </section>
  )
}
