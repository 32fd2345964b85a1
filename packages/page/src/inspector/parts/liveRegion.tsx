import { useEffect, useState } from 'preact/hooks'

/** Announces the newest text to screen readers once it has stood for a moment, as a busy agent would never stop talking. */
export function LiveRegion({ text }: { readonly text: string }) {
  const [shown, setShown] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => setShown(text), 700)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <div class="hidden" role="status" aria-live="polite">
      {shown}
    </div>
  )
}
