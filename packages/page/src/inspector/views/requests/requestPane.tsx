import { useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { AgentView, AgentViewState, RequestView } from '../../model/agent/agentView.ts'
import { changedRows, compareRequests, requestRows, type RequestRow } from '../../model/requests/requestRows.ts'
import { EmptyState } from '../../parts/emptyState.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { RequestBody } from './requestBody.tsx'
import { RequestRaw } from './requestRaw.tsx'
import { RequestSummary, type ChangeKind } from './requestSummary.tsx'

export interface RequestPaneProps {
  readonly view: AgentView
  /** The turn whose request is shown; `null`: the newest. */
  readonly turn: Signal<number | null>
}

/** The exact request of any turn, with the reasons why each message is in it, and the changes. */
export function RequestPane({ view, turn }: RequestPaneProps): JSX.Element {
  const state = view.state.value
  const { requests, areRequestsRead } = state
  useEffect(() => {
    if (!areRequestsRead) view.readRequests()
  }, [view, areRequestsRead])
  if (requests.length === 0) return <NoRequest state={state} />
  return areRequestsRead ? <Requests state={state} turn={turn} /> : <Skeleton label="Reading the requests" />
}

/** A change of a request that the person went to. */
interface Place {
  /** `seq` of the request. */
  readonly seq: number
  readonly index: number
}

function Requests({ state, turn }: { readonly state: AgentViewState; readonly turn: Signal<number | null> }) {
  const { requests, conversation, records } = state
  const isRaw = useSignal(false)
  /** `seq` of the request that the person went to, if the turn has several. */
  const picked = useSignal<number | null>(null)
  const showsSame = useSignal(false)
  const showsGone = useSignal(false)
  const place = useSignal<Place | null>(null)
  const index = indexOf(requests, turn.value, picked.value)
  const now = requests[index]
  const before = requests[index - 1]
  const compared = useMemo(() => (now === undefined ? undefined : compareRequests(now, before)), [now, before])
  const rows = useMemo(
    () =>
      compared === undefined ? [] : requestRows(compared, { showsSame: showsSame.value, showsGone: showsGone.value }),
    [compared, showsSame.value, showsGone.value],
  )
  const changes = changedRows(rows)
  const shown = Math.min(place.value?.seq === now?.seq ? (place.value?.index ?? 0) : 0, Math.max(0, changes.length - 1))
  const go = (to: number, change: number = 0): void => {
    const request = requests[to]
    if (request === undefined) return
    place.value = { seq: request.seq, index: change }
    picked.value = request.seq
    turn.value = request.turnIndex
  }
  const goToChange = (to: number): void => {
    if (changes[to] !== undefined) place.value = { seq: now!.seq, index: to }
    else if (to < 0) go(index - 1, Number.MAX_SAFE_INTEGER)
    else go(index + 1)
  }
  const showKind = (kind: ChangeKind): void => {
    isRaw.value = false
    const to = changes.findIndex((at) => kindOf(rows[at]!) === kind)
    if (to >= 0) goToChange(to)
  }
  return (
    <section class="request" aria-label="Requests">
      <div class="request-bar">
        <Stepper requests={requests} index={index} turn={turn.value} onGo={go} />
        {state.at === null && turn.value !== null && (
          <button type="button" class="button quiet" onClick={() => (turn.value = picked.value = null)}>
            Newest
          </button>
        )}
        <span class="grow" />
        {isRaw.value ? null : (
          <ChangeStepper
            count={changes.length}
            shown={shown}
            isFirst={index <= 0}
            isLast={index >= requests.length - 1}
            onGo={goToChange}
          />
        )}
        <div class="request-modes" role="group" aria-label="Show as">
          {[false, true].map((raw) => (
            <button
              key={String(raw)}
              type="button"
              class="button quiet"
              aria-pressed={isRaw.value === raw}
              onClick={() => (isRaw.value = raw)}
            >
              {raw ? 'Raw JSON' : 'Messages'}
            </button>
          ))}
        </div>
      </div>
      {requests.every(({ isLive }) => isLive) && <NotCaptured count={requests.length} />}
      {now === undefined || compared === undefined ? (
        <EmptyState icon="search" title={`No request of turn ${(turn.value ?? 0) + 1}`}>
          <p>It was not captured, or the turn has not run yet.</p>
        </EmptyState>
      ) : (
        <>
          <RequestSummary
            now={now}
            request={compared.request}
            before={before}
            old={compared.old}
            records={records}
            onShow={showKind}
          />
          {isRaw.value ? (
            <RequestRaw key={now.seq} request={compared.request} />
          ) : (
            <RequestBody
              key={now.seq}
              compared={compared}
              rows={rows}
              place={shown}
              showsSame={showsSame}
              showsGone={showsGone}
              conversation={conversation}
            />
          )}
        </>
      )}
    </section>
  )
}

const kindOf = (row: RequestRow): ChangeKind =>
  row.type === 'gone' ? 'gone' : row.type === 'message' ? 'new' : 'frame'

/** Returns the index of a turn's request: of the newest without a turn, and -1 if the turn has none. */
function indexOf(requests: readonly RequestView[], turn: number | null, picked: number | null): number {
  if (turn === null) return requests.length - 1
  const exact = requests.findIndex(({ turnIndex, seq }) => turnIndex === turn && seq === picked)
  return exact >= 0 ? exact : requests.findLastIndex(({ turnIndex }) => turnIndex === turn)
}

interface ChangeStepperProps {
  readonly count: number
  /** Index of the change that is shown, from 0. */
  readonly shown: number
  /** True if there is no request before; `isLast`: true if there is none after. */
  readonly isFirst: boolean
  readonly isLast: boolean
  readonly onGo: (place: number) => void
}

/** Buttons that go from change to change, through this request and on to the next one. */
function ChangeStepper({ count, shown, isFirst, isLast, onGo }: ChangeStepperProps): JSX.Element {
  const step = (by: 1 | -1, name: string, key: string): JSX.Element => {
    const isOff = by < 0 ? shown === 0 && isFirst : shown >= count - 1 && isLast
    return (
      <button
        type="button"
        id={by < 0 ? 'change-before' : 'change-after'}
        class={`button quiet square ${by < 0 ? 'request-back' : ''}`}
        aria-label={name}
        aria-keyshortcuts={key}
        title={`${name} (${key})`}
        aria-disabled={isOff}
        onClick={() => isOff || onGo(shown + by)}
      >
        <Icon name="chevron" />
      </button>
    )
  }
  return (
    <div class="request-stepper" role="group" aria-label="Changes since the previous request">
      {step(-1, 'Previous change', 'C')}
      <span class="muted number" role="status">
        {count === 0 ? 'No change' : `Change ${shown + 1} of ${count}`}
      </span>
      {step(1, 'Next change', 'c')}
    </div>
  )
}

interface StepperProps {
  readonly requests: readonly RequestView[]
  readonly index: number
  readonly turn: number | null
  readonly onGo: (index: number) => void
}

function Stepper({ requests, index, turn, onGo }: StepperProps): JSX.Element {
  const now = requests[index]
  const shownTurn = now?.turnIndex ?? turn
  const step = (by: number, name: string): JSX.Element => {
    const isOff = requests[index + by] === undefined
    return (
      <button
        type="button"
        class={`button quiet square ${by < 0 ? 'request-back' : ''}`}
        aria-label={name}
        title={name}
        aria-disabled={isOff}
        onClick={() => onGo(index + by)}
      >
        <Icon name="chevron" />
      </button>
    )
  }
  const goTo = (text: string): void => {
    const wanted = Number(text) - 1
    const found = requests.findLastIndex(({ turnIndex }) => turnIndex === wanted)
    if (text !== '' && found >= 0) onGo(found)
  }
  return (
    <div class="request-stepper" role="group" aria-label="Turn">
      {step(-1, 'Previous request')}
      <label class="request-turn">
        <span>Turn</span>
        <input
          class="input number"
          type="number"
          min={(requests[0]?.turnIndex ?? 0) + 1}
          max={(requests.at(-1)?.turnIndex ?? 0) + 1}
          value={shownTurn === null ? '' : shownTurn + 1}
          onChange={(event) => goTo(event.currentTarget.value)}
          onKeyDown={({ key, currentTarget }) => {
            // Letters are keys of the page again: `c` goes to the first change.
            if (key === 'Enter') currentTarget.closest<HTMLElement>('[role=tabpanel]')?.focus()
          }}
        />
        <span class="muted number">of {(requests.at(-1)?.turnIndex ?? 0) + 1}</span>
      </label>
      {step(1, 'Next request')}
      {now !== undefined && now.attempt > 1 && <span class="badge warn">attempt {now.attempt}</span>}
      {now?.isLive === true && <span class="badge accent">seen live</span>}
    </div>
  )
}

const howTo = 'defineAgent({ …, captureTurnRequests: true })'

function NotCaptured({ count }: { readonly count: number }): JSX.Element {
  return (
    <p class="request-hint">
      This agent's log has no requests. {count === 1 ? 'The one shown was' : `The ${count} shown were`} captured live
      and will be lost on reload. To keep them: <code>{howTo}</code>
    </p>
  )
}

function NoRequest({ state }: { readonly state: AgentViewState }): JSX.Element {
  const hasTurns = state.records.some(({ type }) => type === 'turn.start')
  if (!hasTurns || state.status === 'past')
    return (
      <EmptyState icon="send" title="No request yet">
        <p>
          {state.status === 'past'
            ? 'No request had been sent at this point.'
            : 'Prompt the agent to see what is sent to the model.'}
        </p>
        {hasTurns && <pre>{howTo}</pre>}
      </EmptyState>
    )
  return (
    <EmptyState icon="send" title="Requests were not captured">
      <p>
        This agent's log has no requests. New ones appear here while the page is open. To keep them in the log, define
        the agent like this:
      </p>
      <pre>{howTo}</pre>
    </EmptyState>
  )
}
