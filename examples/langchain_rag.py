"""LangChain: the context of a RAG chain without copies.

In your clone of breadth: pip install '.[langchain,text]'
"""

import json
from pathlib import Path

from langchain_core.documents import Document
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import RunnablePassthrough
from langchain_core.vectorstores import InMemoryVectorStore

import breadth
from breadth.encoders import BuiltinEncoder
from breadth.integrations.langchain import BreadthRetriever, EncoderEmbeddings

lines = (Path(__file__).parent / "data/wikipedia/passages.jsonl").read_text(encoding="utf-8").splitlines()
passages = [json.loads(line) for line in lines]
store = InMemoryVectorStore(EncoderEmbeddings(BuiltinEncoder()))  # or your own store and embeddings
store.add_documents([Document(p["text"], id=p["id"], metadata={"title": p["title"]}) for p in passages])

# Before: store.as_retriever(search_type="mmr", search_kwargs={"k": 5})
retriever = BreadthRetriever(source=store, k=5, group_by="title", per_group=3)

for document in retriever.invoke("Who was the murderer in the first broadchurch?"):
    how = document.metadata["breadth"]
    copies = [copy["id"] for copy in how["copies"]]
    print(f"{how['score']:.3f}  {document.metadata['title'][:40]:40}  stands for {copies}")
print(f"coverage {how['coverage']:.0%}, no set of 5 is better by more than {how['gap']:.4f}")


def pack(documents: list[Document]) -> str:
    """At most 200 words, the best passages at both ends."""
    return breadth.pack(documents, 200, str.split, order="ends").text


prompt = ChatPromptTemplate.from_template("Answer from these passages:\n{context}\n\nQuestion: {question}")
chain = {"context": retriever | pack, "question": RunnablePassthrough()} | prompt  # | your model
print(chain.invoke("Who was the murderer in the first broadchurch?").to_string()[:200])
