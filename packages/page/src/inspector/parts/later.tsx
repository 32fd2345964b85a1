import { useSignal } from '@preact/signals'
import type { FunctionComponent, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { Dialog } from './dialog.tsx'
import { EmptyState } from './emptyState.tsx'
import { Skeleton } from './skeleton.tsx'

type Load<P> = () => Promise<FunctionComponent<P>>
type State = 'loading' | 'failed' | 'there'

const failed = 'The server is unreachable or has a newer version of this page. Reload the page.'

/** A part of the page whose code is fetched later. `preload` fetches it before it is shown, and never rejects. */
export type Later<P> = FunctionComponent<P> & { readonly preload: () => Promise<void> }

/** A component whose code is fetched when it is first used. */
function laterCode<P extends object>(load: Load<P>, other: (state: State, props: P) => JSX.Element | null): Later<P> {
  let loaded: FunctionComponent<P> | undefined
  const fetched = async (): Promise<void> => void (loaded ??= await load())
  const Part = (props: P): JSX.Element | null => {
    const state = useSignal<State>(loaded === undefined ? 'loading' : 'there')
    useEffect(() => {
      if (state.value !== 'loading') return undefined
      let isOver = false
      fetched().then(
        () => {
          if (!isOver) state.value = 'there'
        },
        () => {
          if (!isOver) state.value = 'failed'
        },
      )
      return () => void (isOver = true)
    }, [])
    const View = state.value === 'there' ? loaded : undefined
    return View === undefined ? other(state.value, props) : <View {...props} />
  }
  return Object.assign(Part, { preload: () => fetched().catch(() => {}) })
}

const unframed = (content: JSX.Element): JSX.Element => content

/**
 * A view whose code is fetched when it is first shown, so that the page opens without it. It says so if that fails,
 * as after a server update that changed the files. `label`: text while it loads. `frame`: the surroundings that the
 * view normally has, also drawn around that text.
 */
export const later = <P extends object>(
  label: string,
  load: Load<P>,
  frame: (content: JSX.Element, props: P) => JSX.Element = unframed,
): Later<P> =>
  laterCode(load, (state, props) =>
    frame(
      state === 'failed' ? (
        <EmptyState icon="warning" title="Could not load this view">
          <p role="alert">{failed}</p>
        </EmptyState>
      ) : (
        <Skeleton label={label} />
      ),
      props,
    ),
  )

/** As `later`, for a dialog, whose code is fetched when it is first opened. */
export const laterDialog = <P extends { readonly onClose: () => void }>(load: Load<P>): Later<P> =>
  laterCode(load, (state, { onClose }) =>
    state === 'failed' ? (
      <Dialog title="Could not load this" onClose={onClose}>
        <p role="alert">{failed}</p>
      </Dialog>
    ) : null,
  )

/** A part of a view whose code is fetched when it is first shown. `instead` stands there meanwhile, and if that fails, as it can be missed. */
export const laterPart = <P extends object>(instead: JSX.Element, load: Load<P>): Later<P> =>
  laterCode(load, () => instead)
