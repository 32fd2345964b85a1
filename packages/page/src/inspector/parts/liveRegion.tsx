import { useEffect, useState } from 'preact/hooks'

/** Says the newest of some texts to screen readers, when it has stood for a moment: a busy agent would never stop talking. */
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
