'use client'

import { connect } from 'escapement/client'

// oxlint-disable-next-line import/no-default-export -- Next reads it so.
export default function Page() {
  return <p>connect is a {typeof connect}</p>
}
