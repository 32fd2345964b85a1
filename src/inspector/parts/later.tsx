import { useSignal } from '@preact/signals'
import type { FunctionComponent, JSX } from 'preact'
import { useEffect } from 'preact/hooks'
import { EmptyState } from './emptyState.tsx'
import { Skeleton } from './skeleton.tsx'

/**
 * A view whose code comes when it is first shown, so that the page opens without it. Where that fails, as after an update of the server that has
 * other files, it says so. `label`: what is said meanwhile.
 */
export function later<P extends object>(
  label: string,
  load: () => Promise<FunctionComponent<P>>,
): (props: P) => JSX.Element {
  let loaded: FunctionComponent<P> | undefined
  return function Later(props) {
    const state = useSignal<'loading' | 'failed' | 'there'>(loaded === undefined ? 'loading' : 'there')
    useEffect(() => {
      if (state.value !== 'loading') return undefined
      let isOver = false
      load().then(
        (view) => {
          loaded = view
          if (!isOver) state.value = 'there'
        },
        () => {
          if (!isOver) state.value = 'failed'
        },
      )
      return () => void (isOver = true)
    }, [])
    if (state.value === 'failed')
      return (
        <EmptyState icon="warning" title="This view could not be loaded">
          <p role="alert">
            The server cannot be reached, or has another version of this page by now. Load the page again.
          </p>
        </EmptyState>
      )
    if (loaded === undefined || state.value === 'loading') return <Skeleton label={label} />
    const View = loaded
    return <View {...props} />
  }
}
