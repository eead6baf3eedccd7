"""Medical passages with copies, and one whose text is a script."""

from __future__ import annotations

from breadth.index import Document

SUBJECTS = ["asthma", "gout", "measles", "migraine", "anemia", "eczema", "malaria", "scurvy", "glaucoma", "tetanus"]
ASPECTS = ["symptoms", "treatment", "causes", "prevention", "risk factors", "outlook"]


def documents() -> list[Document]:
    """Passages with copies, and one whose text is a script."""
    made = [
        Document(
            f"{subject}/{aspect}",
            f"The {aspect} of {subject}: what doctors tell patients about the {aspect}.",
            {"source": "nih" if place % 2 else "who", "year": 2000 + place, "subject": subject},
        )
        for place, subject in enumerate(SUBJECTS)
        for aspect in ASPECTS
    ]
    made += [
        Document(f"copy {n}", made[1].text + " Read on." * n, {"source": "copy", "year": 2020}) for n in range(1, 4)
    ]
    return [*made, Document("script", "<script>alert('asthma')</script> <b>asthma</b>", {"source": "page"})]
